// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config.hpp"

namespace bellwether::optim {

enum class Method { lamb, adamw };

/// Deck section `optimizer`.
struct OptimizerConfig {
  Method method = Method::lamb;
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool bias_correction = false;
  double trust_min = 0.01;
  double trust_max = 0.3;
  double clip = 1.0;
  std::int64_t skip_limit = 20;

  void describe(ConfigVisitor& visit) {
    visit.choice({.name = "method", .help = "update rule"}, {"lamb", "adamw"}, method);
    visit.field({.name = "lr", .help = "peak learning rate; the schedule scales it", .minimum = 0, .maximum = 1e6}, lr);
    visit.field(
        {.name = "beta1", .help = "decay of the momentum", .minimum = 0, .maximum = 1, .maximum_allowed = false},
        beta1);
    visit.field(
        {.name = "beta2", .help = "decay of the variance", .minimum = 0, .maximum = 1, .maximum_allowed = false},
        beta2);
    visit.field({.name = "epsilon",
                 .help = "added to the root of the variance",
                 .minimum = 0,
                 .maximum = 1,
                 .minimum_allowed = false},
                epsilon);
    visit.field({.name = "weight_decay",
                 .help = "decoupled decay of matrices and embeddings; biases and layer norms never decay",
                 .minimum = 0,
                 .maximum = 10},
                weight_decay);
    visit.field({.name = "bias_correction",
                 .help = "divide momentum and variance by 1 - beta^t; the 1-bit LAMB paper runs LAMB without, AdamW is "
                         "usually run with"},
                bias_correction);
    bool const lamb = method == Method::lamb;
    visit.field({.name = "trust_min",
                 .help = "lower bound of the trust ratio",
                 .minimum = 0,
                 .maximum = 1e6,
                 .only_with = "method: lamb",
                 .applies = lamb},
                trust_min);
    visit.field({.name = "trust_max",
                 .help = "upper bound of the trust ratio",
                 .minimum = 0,
                 .maximum = 1e6,
                 .minimum_allowed = false,
                 .only_with = "method: lamb",
                 .applies = lamb},
                trust_max);
    visit.field({.name = "clip",
                 .help = "largest global norm of the mean gradient; 0 turns clipping off",
                 .minimum = 0,
                 .maximum = 1e9},
                clip);
    visit.field({.name = "skip_limit",
                 .help = "consecutive non-finite steps after which the run ends with a checkpoint",
                 .unit = "steps",
                 .minimum = 1,
                 .maximum = 1000000},
                skip_limit);
  }
};

}  // namespace bellwether::optim
