// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

struct TrainingState;

/// Collective. Compares, by hashes of its bits, what all ranks hold alike: parameters and the optimizer's replicated
/// state. `host` is where this rank runs. Returns, on every rank alike, who differs from most, where, and in which
/// tensors, "rank 3 on node17 differs from the other 3 in parameters of bert.pooler.dense.bias and 2 more"; empty where
/// nobody does. Costs a pass over that state, and 16 bytes a rank where all is well.
std::string differing_replicas(comm::RankGroup& group, TrainingState const& state, std::string const& host);

}  // namespace bellwether::app
