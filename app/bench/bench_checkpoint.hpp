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
  std::string directory = ".";  ///< must exist; the bench removes what it writes there
  int warmup = 1, calls = 5;
};

/// Checkpoints written in one mode, asynchronous or synchronous.
struct CheckpointResult {
  bool asynchronous = true;
  Timing stands_still{};  ///< until training may continue, on the slowest rank
  Timing complete{};      ///< until the checkpoint is complete on disk, on the slowest rank
  Timing copy{};          ///< plain memory copy of as many bytes before each checkpoint, on the slowest rank
  std::vector<Check> checks{};
};

struct CheckpointBenchResult {
  std::int64_t parameters = 0;             ///< n
  std::int64_t bytes = 0, root_bytes = 0;  ///< written by all ranks together; by rank 0
  std::vector<CheckpointResult> results;
};

/// Collective. Measures the cost of a checkpoint of 1-bit LAMB after the freeze. The state holds random values: the
/// parameters and two moments, equal on all ranks, and two vectors that differ per rank. For comparison, all ranks copy
/// the same vectors in memory before each checkpoint. Checks that the last checkpoint reads back bit for bit.
/// \throws CommonError or CommonFailure if the directory cannot be written.
CheckpointBenchResult bench_checkpoint(comm::World& world, CheckpointBench const& bench);

}  // namespace bellwether::app
