// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/schedule.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bellwether::optim {
namespace {

double ramp(Warmup warmup, double share) { return warmup == Warmup::quadratic ? share * share : share; }

/// Returns the share of the peak after warmup. progress: 0 at the end of warmup, 1 at the last step.
double decayed(ScheduleConfig const& schedule, double progress, double steps_since_warmup) {
  double const rest = 1.0 - schedule.final_fraction;
  switch (schedule.decay) {
    case Decay::constant:
      return 1.0;
    case Decay::linear:
      return schedule.final_fraction + rest * (1.0 - progress);
    case Decay::polynomial:
      return schedule.final_fraction + rest * std::pow(1.0 - progress, schedule.power);
    case Decay::cosine:
      return schedule.final_fraction + rest * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
    case Decay::exponential:
      return std::pow(schedule.decay_rate, steps_since_warmup / static_cast<double>(schedule.decay_steps));
  }
  throw InternalError("unknown decay of the learning rate");
}

}  // namespace

void ScheduleConfig::describe(ConfigVisitor& visit) {
  visit.field({.name = "steps", .help = "optimizer steps of the run", .unit = "steps", .minimum = 1, .maximum = 1e12},
              steps);
  visit.field(
      {.name = "warmup_steps",
       .help = "steps until the learning rate reaches its peak. With legw_baseline_batch: as tuned for that batch; the "
               "program does not scale it",
       .unit = "steps",
       .minimum = 0,
       .maximum = 1e12},
      warmup_steps);
  visit.choice({.name = "warmup",
                .help = "how the rate rises: proportional to the step, or to its square",
                .only_with = "warmup_steps above 0",
                .applies = warmup_steps > 0},
               {"linear", "quadratic"}, warmup);
  visit.choice({.name = "decay", .help = "how the rate falls after its warmup"},
               {"constant", "linear", "polynomial", "cosine", "exponential"}, decay);
  visit.field(
      {.name = "power",
       .help = "the share of the peak falls from 1 to final_fraction as (1 - p)^power. p is 0 at the end of warmup and "
               "1 at the last step",
       .minimum = 0,
       .maximum = 100,
       .minimum_allowed = false,
       .only_with = "decay: polynomial",
       .applies = decay == Decay::polynomial},
      power);
  visit.field({.name = "decay_rate",
               .help = "the rate is lr * decay_rate^(t / decay_steps), t steps after warmup",
               .minimum = 0,
               .maximum = 1,
               .minimum_allowed = false,
               .only_with = "decay: exponential",
               .applies = decay == Decay::exponential},
              decay_rate);
  visit.field({.name = "decay_steps",
               .help = "steps in which the rate falls by decay_rate",
               .unit = "steps",
               .minimum = 1,
               .maximum = 1e12,
               .only_with = "decay: exponential",
               .applies = decay == Decay::exponential},
              decay_steps);
  visit.field({.name = "final_fraction",
               .help = "share of the peak rate at the last step",
               .minimum = 0,
               .maximum = 1,
               .only_with = "decay: linear, polynomial or cosine",
               .applies = decay == Decay::linear || decay == Decay::polynomial || decay == Decay::cosine},
              final_fraction);
  visit.field({.name = "offset", .help = "added to the rate of every step", .minimum = 0, .maximum = 1e6}, offset);
  visit.field({.name = "legw_baseline_batch",
               .help = "LEGW: batch.global for which optimizer.lr and warmup_steps were tuned. The rate is scaled by "
                       "the root of the ratio of this run's batch to it. The value of warmup_steps stays. 0: off",
               .unit = "sequences",
               .minimum = 0,
               .maximum = 1 << 24},
              legw_baseline_batch);
}

double learning_rate(ScheduleConfig const& schedule, double peak, std::int64_t global_batch, std::int64_t step) {
  require(step >= 1, "steps count from 1");
  double scaled = peak;
  if (schedule.legw_baseline_batch > 0)
    scaled *= std::sqrt(static_cast<double>(global_batch) / static_cast<double>(schedule.legw_baseline_batch));
  double const t = static_cast<double>(step), warmup = static_cast<double>(schedule.warmup_steps);
  if (t < warmup) return scaled * ramp(schedule.warmup, t / warmup) + schedule.offset;
  double const length = static_cast<double>(schedule.steps) - warmup;
  double const progress = length > 0 ? std::min(1.0, (t - warmup) / length) : 0.0;
  return scaled * decayed(schedule, progress, t - warmup) + schedule.offset;
}

}  // namespace bellwether::optim
