// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/machine/timing.hpp"
#include "comm/comm_config.hpp"
#include "core/gemm/gemm_tile.hpp"
#include "model/model_config.hpp"
#include "model/optim/optimizer_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

struct StepBench {
  model::ModelConfig model;  ///< its compute type is ignored, see types
  std::vector<ComputeType> types;
  std::int64_t sequences = 32;  ///< per rank and step, B
  std::int64_t length = 128;    ///< tokens of each sequence, S, without padding
  std::int64_t masked = 20;     ///< masked tokens of each sequence
  optim::OptimizerConfig optimizer;
  comm::CommConfig comm;
  int warmup = 3, calls = 10;
  bool profile = false;
  bool timeline = false;  ///< needs several ranks
};

/// One shape of matrix product in a step.
struct ProductResult {
  Op op_a, op_b;
  std::int64_t m, n, k;
  double calls = 0;    ///< per step
  double seconds = 0;  ///< of all calls in a step
  double alone = 0;    ///< seconds of as many calls at the fastest isolated call of the same product

  /// Returns the FLOP/s of the fastest isolated call.
  double speed_alone() const { return calls * 2.0 * static_cast<double>(m) * static_cast<double>(n * k) / alone; }
  /// Returns which operands are transposed: "nt" if only the second is.
  std::string form() const { return {op_a == Op::none ? 'n' : 't', op_b == Op::none ? 'n' : 't'}; }
};

struct StepKernel {
  std::string label;
  double calls = 0, seconds = 0;  ///< per step
};

/// A segment of the dense mean on rank 0: elements [first, last), and seconds since the start of the forward pass.
struct SegmentRow {
  std::int64_t first, last;
  double ready, started, summed, finished;  ///< see optim::SegmentReport
};

/// How the exchange of a dense step overlaps its backward pass.
struct Timeline {
  /// Start and end of the encoder's backward pass on rank 0, in seconds since the start of the forward pass.
  double encoder_backward = 0, backward_end = 0;
  std::vector<SegmentRow> rows{};
  /// exposed: from the end of backward to the end of the mean; step: a whole step. Both on the slowest rank; `_apart`:
  /// without overlap.
  Timing exposed{}, exposed_apart{}, step{}, step_apart{};
};

struct StepResult {
  ComputeType type{};
  Timing step{};             ///< on the slowest rank
  double tokens = 0;         ///< per step, all ranks
  double flops = 0;          ///< per step, all ranks: model::training_flops()
  double product_flops = 0;  ///< FLOP/s of measured_gemm_speed()
  std::int64_t product_side = 0;
  /// The same step, recorded and replayed as one launch. It saves the launches of single kernels and the wait for the
  /// losses. Set only if there is one rank and its device can record work.
  std::optional<Timing> recorded{};
  std::int64_t workspace = 0;  ///< bytes of activations
  /// With StepBench::profile, on rank 0: seconds of a profiled step. The profile runs additional steps, whose times
  /// include the overhead of the profiling callbacks.
  double profiled_seconds = 0;
  std::vector<ProductResult> products{};  ///< longest first
  std::vector<StepKernel> kernels{};      ///< all other kernels, longest first
  double bound_seconds = 0;               ///< sum of ProductResult::alone
  std::optional<Timeline> timeline{};     ///< of the step with the median of Timeline::exposed
  std::vector<Check> checks{};
};

/// Collective. Times whole training steps: forward, backward, exchange and optimizer, without input and statistics.
/// Each rank repeats one batch of random tokens without padding. Checks that the first loss is that of guessing, the
/// loss of the batch falls, no step is skipped, and parameters stay finite and equal on all ranks.
std::vector<StepResult> bench_step(comm::World& world, StepBench const& bench);

}  // namespace bellwether::app
