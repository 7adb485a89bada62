// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"

namespace bellwether::optim {

enum class Decay { constant, linear, polynomial, cosine, exponential };
enum class Warmup { linear, quadratic };

/// Deck section `schedule`: the learning rate as a function of the 1-based count of real optimizer steps.
struct ScheduleConfig {
  std::int64_t steps = 1000;
  Warmup warmup = Warmup::linear;
  std::int64_t warmup_steps = 0;
  Decay decay = Decay::linear;
  double power = 0.5;       // polynomial
  double decay_rate = 0.9;  // exponential: factor each decay_steps
  std::int64_t decay_steps = 250;
  double offset = 0;          // added to every rate
  double final_fraction = 0;  // linear, polynomial and cosine decay end at this share of the peak
  /// LEGW (You et al., arXiv 1901.08256) with k = batch / baseline batch: scales the peak rate by sqrt(k). The value
  /// of warmup_steps stays, which is k times as many epochs of warmup. 0: off.
  std::int64_t legw_baseline_batch = 0;

  void describe(ConfigVisitor& visit);
};

/// Returns the learning rate of step t = 1, 2, ...; a pure function. peak: optimizer.lr. With LEGW, `global_batch`
/// scales the peak. warmup_steps remains the baseline's count, because LEGW keeps the number of warmup iterations
/// fixed.
double learning_rate(ScheduleConfig const& schedule, double peak, std::int64_t global_batch, std::int64_t step);

}  // namespace bellwether::optim
