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
  optim::OptimizerConfig optimizer;  ///< its method and freeze are not looked at
  std::vector<optim::Method> methods;
  comm::CommConfig comm;
  bool timeline = false;  ///< of compressed exchanges; needs several ranks
  int warmup = 3, calls = 10;
};

/// One kernel in a step, beside the time that memory takes for its bytes.
struct KernelResult {
  std::string label;
  double seconds = 0;      ///< in a step, on the rank where it takes longest
  double least_bytes = 0;  ///< an element, see KernelBound
  double moved_bytes = 0;  ///< an element
  double over_least = 0;   ///< seconds over the time of the least bytes; 0: there are none
  double over_moved = 0;   ///< seconds over the time of the moved bytes
};

/// When a segment of the compressed exchange travelled, in seconds from the start of a step; see
/// comm::CompressedSegmentTimes.
struct ExchangeRow {
  std::int64_t elements = 0;
  double sent = 0, received = 0, passed_on = 0, finished = 0;
};

/// Steps of one method in one phase.
struct PhaseResult {
  std::string method, phase;
  Timing step{};                        ///< of the slowest rank
  double triad_bytes_per_second = 0;    ///< in turn with the steps, of the slowest rank while all run; the median
  double bound_seconds = 0;             ///< least bytes of all kernels over that speed
  double specified_bytes = 0;           ///< of 1-bit LAMB after the freeze, see specified_bytes(); 0: of another step
  double over_specified = 0;            ///< a step over the time of these bytes
  std::int64_t state_bytes = 0;         ///< moments and buffers of the exchange, on rank 0
  std::vector<KernelResult> kernels{};  ///< those with a bound, then "other kernels", "copies" and "transport, host"
  std::vector<ExchangeRow> timeline{};  ///< of the last step, on rank 0; where asked for and something is compressed
  std::vector<Check> checks{};
};

struct OptimizerBenchResult {
  std::int64_t parameters = 0;  ///< n
  std::vector<PhaseResult> phases;
};

/// Collective. Time and memory of each method's step up to the freeze and after it, without a model: every rank holds
/// random gradients. The yardstick is measured in turn with the steps, since other work on a machine comes and goes:
/// a[k] = b[k] + 3 c[k], counted as 12 bytes an element, on all ranks at once. Checked: no step is skipped, values stay
/// finite and equal on all ranks, parameters move, bytes are those predicted, the compressed phase is reached, and
/// before it a 1-bit method is its uncompressed one, bit for bit, where both run.
OptimizerBenchResult bench_optimizer(comm::World& world, OptimizerBench const& bench);

}  // namespace bellwether::app
