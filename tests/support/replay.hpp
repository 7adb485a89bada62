// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/support/replay_input.hpp"

namespace bellwether::comm {
class Communicator;
}

namespace bellwether::test {

/// Runs the product's optimizer on recorded gradients, as docs/developer/formats.md (Replay) describes. Collective;
/// rank 0 gets the result. `input` must have been read for the same number of ranks.
nlohmann::ordered_json replay(ReplayInput const& input, comm::Communicator& ranks);

}  // namespace bellwether::test
