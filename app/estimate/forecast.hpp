// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "comm/compression/network_model.hpp"
#include "model/optim/optimizer_config.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bellwether::app {

/// What all ranks together have to do in a step, and how fast a rank is.
struct Workload {
  std::int64_t parameters = 0, tensors = 0;
  std::int64_t sequences = 1;   ///< a global batch
  double step_flops = 0;        ///< of the matrix products of a step, all ranks
  std::int64_t steps = 1;       ///< of the run
  double pass_flops = 1;        ///< operations a second of a rank's forward and backward passes
  double memory_bandwidth = 1;  ///< bytes a second of its optimizer's kernels
  optim::OptimizerConfig optimizer;
  comm::CommConfig comm;

  /// Steps up to the freeze, at the latest; all, where nothing is compressed.
  std::int64_t dense_steps() const;
};

/// Seconds of a step, one part after the other: nothing overlaps.
struct StepForecast {
  double passes = 0;     ///< of the rank with most sequences
  double optimizer = 0;  ///< kernels of optimizer and exchange, by the bytes that they move
  double network = 0;    ///< means of gradients or momenta, and the small reductions of norms and sketches

  double seconds() const { return passes + optimizer + network; }
};

struct Forecast {
  int ranks = 1, nodes = 1;
  StepForecast dense;                      ///< up to the freeze
  std::optional<StepForecast> compressed;  ///< after it, where the method compresses
  double dense_share = 1;                  ///< of the steps, up to the freeze
  /// Bytes a second of a node's link with which a step after the freeze takes as long as one before it; slower links
  /// make it the faster of the two, and so does every link where this is not set.
  std::optional<double> break_even;

  double step_gain() const { return compressed ? dense.seconds() / compressed->seconds() : 1; }
  /// A run of dense steps alone over this one: 1 / (w + (1 - w) / step_gain()) (arXiv 2104.06069).
  double run_gain() const { return 1 / (dense_share + (1 - dense_share) / step_gain()); }
};

/// For ranks that fill nodes.
Forecast forecast(Workload const& work, comm::NetworkModel const& network, int ranks);

/// For one node, twice as many again and again, and as many as `most` ranks fill, as far as every rank has a sequence.
std::vector<Forecast> forecasts(Workload const& work, comm::NetworkModel const& network, std::int64_t most);

}  // namespace bellwether::app
