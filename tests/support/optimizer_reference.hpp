// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "model/optim/optimizer_config.hpp"

#include <vector>

namespace bellwether::test {

/// Parameters and moments in double, each (n).
struct ReferenceState {
  std::vector<double> x, m, v;
};

/// Report of a reference step. The vectors have a value for each tensor and are filled for LAMB only.
struct ReferenceReport {
  double norm = 0;
  double clip_factor = 1;
  std::vector<double> trust_ratio, weight_norm, update_norm;
};

/// Simple, slow steps in double, written from the papers' equations and not from the kernels.
ReferenceReport reference_lamb(ParameterLayout const& layout, optim::OptimizerConfig const& config, int step,
                               double rate, std::vector<double> gradient, ReferenceState& state);
ReferenceReport reference_adamw(ParameterLayout const& layout, optim::OptimizerConfig const& config, int step,
                                double rate, std::vector<double> gradient, ReferenceState& state);

}  // namespace bellwether::test
