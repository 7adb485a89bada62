// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/bench_timing.hpp"
#include "model/config.hpp"

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
  Timing stands_still{};    ///< until training may go on, on the slowest rank
  Timing complete{};        ///< until the checkpoint is there
  double copy_seconds = 0;  ///< that one copy of what a rank writes takes memory, on the slowest rank
  std::vector<Check> checks{};
};

struct CheckpointBenchResult {
  std::int64_t parameters = 0;             ///< n
  std::int64_t bytes = 0, root_bytes = 0;  ///< all ranks together, and rank 0 alone
  double copy_bytes_per_second = 0;        ///< read and written once each, counted once; of the slowest rank
  std::vector<CheckpointResult> results;
};

/// Collective. What a checkpoint of 1-bit LAMB after its freeze costs: parameters and two moments that all ranks have
/// alike, two vectors of each rank's own; random values, no model. The yardstick is measured in the same run, on all
/// ranks at once, with the copy that the snapshot is made by. Checked: what was written is read back bit for bit.
/// \throws CommonError, CommonFailure where the directory cannot be written.
CheckpointBenchResult bench_checkpoint(comm::World& world, CheckpointBench const& bench);

}  // namespace bellwether::app
