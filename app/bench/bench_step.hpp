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
  model::ModelConfig model;  ///< its compute is not looked at
  std::vector<ComputeType> types;
  std::int64_t sequences = 32;  ///< a rank and step, B
  std::int64_t length = 128;    ///< of each, S: no padding
  std::int64_t masked = 20;     ///< positions of each
  optim::OptimizerConfig optimizer;
  comm::CommConfig comm;
  int warmup = 3, calls = 10;
  bool profile = false;
  bool timeline = false;  ///< needs several ranks
};

/// A matrix product of a step.
struct ProductResult {
  Op op_a, op_b;
  std::int64_t m, n, k;
  double calls = 0;    ///< a step
  double seconds = 0;  ///< of all these calls
  double alone = 0;    ///< what they would take at the fastest that the same product was by itself

  /// FLOP/s of the product by itself.
  double speed_alone() const { return calls * 2.0 * static_cast<double>(m) * static_cast<double>(n * k) / alone; }
  /// Which operands are transposed, as in "nt".
  std::string form() const { return {op_a == Op::none ? 'n' : 't', op_b == Op::none ? 'n' : 't'}; }
};

struct StepKernel {
  std::string label;
  double calls = 0, seconds = 0;  ///< a step
};

/// A segment of the dense mean on rank 0: elements [first, last), and seconds since the pass began.
struct SegmentRow {
  std::int64_t first, last;
  double ready, started, summed, finished;  ///< see optim::SegmentReport
};

/// How the exchange of a dense step lies beside its backward pass.
struct Timeline {
  double encoder_backward = 0, backward_end = 0;  ///< seconds since the pass began, on rank 0, as are rows
  std::vector<SegmentRow> rows{};
  /// From the end of backward to the end of the mean, and a whole step, on the slowest rank; apart: without overlap.
  Timing exposed{}, exposed_apart{}, step{}, step_apart{};
};

struct StepResult {
  ComputeType type{};
  Timing step{};             ///< of the slowest rank
  double tokens = 0;         ///< a step, all ranks
  double flops = 0;          ///< a step, all ranks: model::training_flops()
  double product_flops = 0;  ///< a second: measured_gemm_speed()
  std::int64_t product_side = 0;
  /// Of the same step as one recorded launch, without those of its kernels one by one and the wait for its losses:
  /// where one rank computes on a device that records work.
  std::optional<Timing> recorded{};
  std::int64_t workspace = 0;  ///< bytes of activations
  /// With profile, on rank 0: in steps of their own, each kernel's time with those who listen to it.
  double profiled_seconds = 0;
  std::vector<ProductResult> products{};  ///< longest first, as kernels
  std::vector<StepKernel> kernels{};      ///< all else
  double bound_seconds = 0;               ///< sum of the products' `alone`
  std::optional<Timeline> timeline{};     ///< of the step with the median of Timeline::exposed
  std::vector<Check> checks{};
};

/// Collective. Whole training steps of one batch without padding a rank: forward, backward, exchange and optimizer, on
/// random tokens, without input and statistics. Checked: the first loss is that of guessing, the loss of the batch
/// falls, no step is skipped, parameters stay finite and equal on all ranks.
std::vector<StepResult> bench_step(comm::World& world, StepBench const& bench);

}  // namespace bellwether::app
