// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/support/replay_input.hpp"

namespace bellwether::comm {
class Communicator;
}

namespace bellwether::test {

/// Runs the product's optimizer over recorded gradients, as docs/developer/formats.md (Replay) describes. Collective;
/// rank 0 gets the result. `input` was read for as many ranks.
nlohmann::ordered_json replay(ReplayInput const& input, comm::Communicator& ranks);

}  // namespace bellwether::test
