// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/machine/timing.hpp"
#include "model/model_config.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

struct CheckpointBench {
  model::ModelConfig model;
  std::int64_t sequence_length = 128;
  std::string directory = ".";  ///< an existing one; what is written there is removed
  int warmup = 1, calls = 5;
};

/// Checkpoints written one way.
struct CheckpointResult {
  bool asynchronous = true;
  Timing stands_still{};  ///< until training may go on, on the slowest rank
  Timing complete{};      ///< until the checkpoint is there
  Timing copy{};          ///< of as many bytes in memory, before each of the checkpoints, on the slowest rank
  std::vector<Check> checks{};
};

struct CheckpointBenchResult {
  std::int64_t parameters = 0;             ///< n
  std::int64_t bytes = 0, root_bytes = 0;  ///< all ranks together, and rank 0 alone
  std::vector<CheckpointResult> results;
};

/// Collective. What a checkpoint of 1-bit LAMB after its freeze costs: parameters and two moments that all ranks have
/// alike, two vectors of each rank's own; random values, no model. The yardstick is a plain copy of the same vectors,
/// on all ranks at once, in turn with the checkpoints. Checked: what was written is read back bit for bit. \throws
/// CommonError, CommonFailure where the directory cannot be written.
CheckpointBenchResult bench_checkpoint(comm::World& world, CheckpointBench const& bench);

}  // namespace bellwether::app
