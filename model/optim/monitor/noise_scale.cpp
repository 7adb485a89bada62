// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/monitor/noise_scale.hpp"

#include <cmath>
#include <limits>

namespace bellwether::optim {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BatchPart part_of_ranks(std::int64_t sequences, std::int64_t ranks) {
  auto const B = static_cast<double>(sequences), P = static_cast<double>(ranks);
  auto const fewer = static_cast<double>(sequences / ranks), longer = static_cast<double>(sequences % ranks);
  double const squares = (P - longer) * fewer * fewer + longer * (fewer + 1) * (fewer + 1);
  return {.signal = P * squares / (B * B), .noise = P / B};
}

BatchPart part_of_micro_batches(std::int64_t sequences, std::int64_t part) {
  double const share = static_cast<double>(part) / static_cast<double>(sequences);
  return {.signal = share * share, .noise = share / static_cast<double>(sequences)};
}

NoiseSample noise_sample(BatchPart const& part, double part_square, double whole_square, std::int64_t sequences) {
  auto const B = static_cast<double>(sequences);
  // Subtract `signal` times the whole's square from the part's square: only noise remains.
  double const noise = part.noise - part.signal / B;
  if (!(noise > 1e-9 * part.noise) || !std::isfinite(part_square) || !std::isfinite(whole_square)) return {};
  double const trace = (part_square - part.signal * whole_square) / noise;
  return {.signal = whole_square - trace / B, .trace = trace};
}

void NoiseScale::add(NoiseSample const& sample) {
  if (!std::isfinite(sample.signal) || !std::isfinite(sample.trace)) return;
  signal_ = beta_ * signal_ + (1 - beta_) * sample.signal;
  trace_ = beta_ * trace_ + (1 - beta_) * sample.trace;
  weight_ = beta_ * weight_ + (1 - beta_);
  ++samples_;
  double const now = simple();
  if (static_cast<double>(samples_) * (1 - beta_) < 1 - 1e-9 || std::isnan(now)) return;
  sum_ += now;
  ++known_;
}

double NoiseScale::signal() const { return weight_ > 0 ? signal_ / weight_ : unknown; }
double NoiseScale::trace() const { return weight_ > 0 ? trace_ / weight_ : unknown; }
double NoiseScale::simple() const { return signal_ > 0 && trace_ >= 0 ? trace_ / signal_ : unknown; }
double NoiseScale::critical_batch() const { return known_ > 0 ? sum_ / static_cast<double>(known_) : unknown; }

void NoiseScale::visit_state(StateVisitor& visit) {
  visit.scalar(number("noise_signal"), signal_);
  visit.scalar(number("noise_trace"), trace_);
  visit.scalar(number("noise_weight", 0), weight_);
  visit.scalar(number("noise_sum"), sum_);
  visit.scalar(counter("noise_samples"), samples_);
  visit.scalar(counter("noise_known"), known_);
}

}  // namespace bellwether::optim
