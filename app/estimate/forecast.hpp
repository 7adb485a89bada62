// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/estimate/network_model.hpp"
#include "comm/comm_config.hpp"
#include "model/optim/optimizer_config.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bellwether::app {

/// The work of a step on all ranks, and the speed of a rank.
struct Workload {
  std::int64_t parameters = 0, tensors = 0;
  std::int64_t sequences = 1;   ///< in a global batch
  double step_flops = 0;        ///< operations of the matrix products of a step, all ranks
  std::int64_t steps = 1;       ///< of the run
  double pass_flops = 1;        ///< operations per second of a rank's forward and backward passes
  double memory_bandwidth = 1;  ///< bytes per second of a rank's optimizer kernels
  optim::OptimizerConfig optimizer;
  comm::CommConfig comm;

  /// Returns the maximum number of steps up to the freeze; all steps if the method does not compress.
  std::int64_t dense_steps() const;
};

/// Seconds of the parts of a step. The forecast assumes that they do not overlap.
struct StepForecast {
  double passes = 0;     ///< forward and backward passes of the rank with most sequences
  double optimizer = 0;  ///< kernels of optimizer and exchange, from the bytes that they move
  double network = 0;    ///< means of gradients or momenta, and the small reductions of norms and sketches

  double seconds() const { return passes + optimizer + network; }
};

struct Forecast {
  int ranks = 1, nodes = 1;
  StepForecast dense;                      ///< up to the freeze
  std::optional<StepForecast> compressed;  ///< after it, if the method compresses
  double dense_share = 1;                  ///< share of the steps that are dense
  /// Bytes per second of a node's link at which a step takes equally long before and after the freeze. The step after
  /// the freeze is faster with every slower link. Unset if it is faster with every link.
  std::optional<double> break_even;

  double step_gain() const { return compressed ? dense.seconds() / compressed->seconds() : 1; }
  /// Returns the time of a run with only dense steps over the time of this run. With w = dense_share it is
  /// 1 / (w + (1 - w) / step_gain()) (arXiv 2104.06069).
  double run_gain() const { return 1 / (dense_share + (1 - dense_share) / step_gain()); }
};

/// Returns the forecast for `ranks` ranks that fill whole nodes.
Forecast forecast(Workload const& work, NetworkModel const& network, int ranks);

/// Returns forecasts for 1, 2, 4, ... nodes and for the nodes that `most` ranks fill, as long as every rank has at
/// least one sequence.
std::vector<Forecast> forecasts(Workload const& work, NetworkModel const& network, std::int64_t most);

}  // namespace bellwether::app
