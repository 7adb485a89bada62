// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

struct TrainingState;

/// Collective. Compares replicated data between ranks by hashes of its bits: parameters and the optimizer's replicated
/// state. Returns, on all ranks, which ranks differ from the majority and in which tensors. Example: "rank 3 on node17
/// differs from the 3 that agree in parameters of bert.pooler.dense.bias and 2 more". Empty if all ranks agree. Reads
/// that state once and sends 16 bytes per rank if all agree. host: name of this rank's host.
std::string differing_replicas(comm::RankGroup& group, TrainingState const& state, std::string const& host);

}  // namespace bellwether::app
