// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/machine/timing.hpp"
#include "comm/comm_config.hpp"
#include "model/model_config.hpp"
#include "model/optim/optimizer_config.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

struct OptimizerBench {
  model::ModelConfig model;
  std::int64_t sequence_length = 128;
  optim::OptimizerConfig optimizer;  ///< its method and freeze are ignored
  std::vector<optim::Method> methods;
  comm::CommConfig comm;
  bool timeline = false;  ///< record one of each compressed exchange; needs several ranks
  int warmup = 3, calls = 10;
};

/// One kernel in a step, compared with the time that the memory needs for its bytes.
struct KernelResult {
  std::string label;
  double seconds = 0;      ///< per step, on the slowest rank
  double least_bytes = 0;  ///< per element, see KernelBound
  double moved_bytes = 0;  ///< per element, see KernelBound
  double over_least = 0;   ///< seconds over the time of the least bytes; 0: no bound
  double over_moved = 0;   ///< seconds over the time of the moved bytes; 0: no bound
};

/// The times of a segment of the compressed exchange, in seconds from the start of the step; see
/// comm::CompressedSegmentTimes.
struct ExchangeRow {
  std::int64_t elements = 0;
  double sent = 0, received = 0, passed_on = 0, finished = 0;
};

/// Steps of one method in one phase.
struct PhaseResult {
  std::string method, phase;
  Timing step{};                        ///< on the slowest rank
  double triad_bytes_per_second = 0;    ///< median of the slowest rank while all run; measured between the steps
  double bound_seconds = 0;             ///< least bytes of all kernels over that speed
  double specified_bytes = 0;           ///< for 1-bit LAMB after the freeze, see specified_bytes(); otherwise 0
  double over_specified = 0;            ///< the step's time over the time of these bytes
  std::int64_t state_bytes = 0;         ///< moments and buffers of the exchange, on rank 0
  std::vector<KernelResult> kernels{};  ///< those with a bound, then "other kernels", "copies" and "transport, host"
  std::vector<ExchangeRow> timeline{};  ///< of the last compressed step on rank 0, if OptimizerBench::timeline
  std::vector<Check> checks{};
};

struct OptimizerBenchResult {
  std::int64_t parameters = 0;  ///< n
  std::vector<PhaseResult> phases;
};

/// Collective. Measures time and memory of each method's step up to the freeze and after it, with random gradients
/// instead of a model. After each step, all ranks run a triad for comparison, because the load of a machine varies. The
/// triad is a[k] = b[k] + 3 c[k], counted as 12 bytes per element. Checks the following.
/// - No step is skipped. The parameters change and stay finite and equal on all ranks.
/// - The bytes sent equal the predicted bytes.
/// - The run reaches the compressed phase.
///
/// Before the freeze, a 1-bit method equals its uncompressed method bit for bit, if both run.
OptimizerBenchResult bench_optimizer(comm::World& world, OptimizerBench const& bench);

}  // namespace bellwether::app
