// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/freeze.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellwether::optim {
namespace {

constexpr std::int64_t least_interval = 10, calm_checks = 3;
constexpr double small_change = 0.04;

std::int64_t steps_for(double value) { return static_cast<std::int64_t>(std::ceil(value - 1e-9)); }

}  // namespace

FreezePoint::FreezePoint(OptimizerConfig const& config, std::int64_t steps, std::int64_t rate_warmup_steps)
    : beta2_(config.beta2),
      fixed_(config.freeze.step.value_or(-1)),
      interval_(std::max<std::int64_t>(least_interval, std::llround(0.1 / (1 - config.beta2)))),
      // The first gradients dominate the variance until it has averaged 1 / (1 - beta2) of them.
      earliest_(std::max(rate_warmup_steps, steps_for(1 / (1 - config.beta2)))),
      latest_(config.freeze.latest_step(steps)),
      change_(std::numeric_limits<double>::quiet_NaN()) {
  if (!has_variance(config.method) && fixed_ < 0) fixed_ = latest_;  // there is no variance to look at
  if (averages_ratios(config.method)) earliest_ = std::max(earliest_, steps_for(1 / (1 - config.coefficient_beta)));
}

bool FreezePoint::reached(std::int64_t t, std::function<double(double)> const& drift) {
  std::int64_t const done = t - 1;
  if (fixed_ >= 0) return done >= fixed_;
  if (done >= latest_) return true;
  if (done < interval_ || done % interval_ != 0) return false;
  if (done != checked_) {
    double const filled = -std::expm1(static_cast<double>(done) * std::log(beta2_));
    change_ = drift(1 / filled);
    calm_ = change_ <= small_change ? calm_ + 1 : 0;
    checked_ = done;
  }
  return calm_ >= calm_checks && done >= earliest_;
}

bool FreezePoint::possible(std::int64_t t) const {
  std::int64_t const done = t - 1;
  if (fixed_ >= 0) return done >= fixed_;
  if (done >= latest_) return true;
  if (done < interval_ || done % interval_ != 0 || done < earliest_) return false;
  return calm_ + (done == checked_ ? 0 : 1) >= calm_checks;
}

VarianceCheck FreezePoint::last_check() const {
  return fixed_ < 0 && checked_ > 0 ? VarianceCheck{checked_ + 1, change_} : VarianceCheck{};
}

bool FreezePoint::near(std::int64_t t) const {
  std::int64_t calm = calm_;
  for (std::int64_t done = t - 1; done < t + freeze_surroundings; ++done) {
    if (done == fixed_ || (fixed_ < 0 && done == latest_)) return true;
    if (fixed_ >= 0 || done < interval_ || done % interval_ != 0) continue;
    if (done > checked_) ++calm;  // assumes that the check finds a small change
    if (calm >= calm_checks && done >= earliest_) return true;
  }
  return false;
}

void FreezePoint::visit_state(StateVisitor& visit) {
  visit.scalar(counter("freeze_checked"), checked_);
  visit.scalar(counter("freeze_calm"), calm_);
  visit.scalar({"freeze_change"}, change_);
}

}  // namespace bellwether::optim
