// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/optimizer_reference.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::test {
namespace {

double norm_of(std::vector<double> const& values) {
  double sum = 0;
  for (double const value : values) sum += value * value;
  return std::sqrt(sum);
}

double clip(std::vector<double>& gradient, double norm, double limit) {
  if (limit == 0 || norm <= limit) return 1;
  for (double& g : gradient) g *= limit / norm;
  return limit / norm;
}

/// Updates the moments of element k and returns Adam's direction.
double adam(optim::OptimizerConfig const& config, int step, double g, double& m, double& v) {
  m = config.beta1 * m + (1 - config.beta1) * g;
  v = config.beta2 * v + (1 - config.beta2) * g * g;
  if (!config.bias_correction) return m / (std::sqrt(v) + config.epsilon);
  double const m_hat = m / (1 - std::pow(config.beta1, step));
  double const v_hat = v / (1 - std::pow(config.beta2, step));
  return m_hat / (std::sqrt(v_hat) + config.epsilon);
}

}  // namespace

ReferenceReport reference_lamb(ParameterLayout const& layout, optim::OptimizerConfig const& config, int step,
                               double rate, std::vector<double> gradient, ReferenceState& state) {
  ReferenceReport report;
  report.norm = norm_of(gradient);
  report.clip_factor = clip(gradient, report.norm, config.clip);
  for (auto const& tensor : layout.tensors()) {
    auto const first = static_cast<std::size_t>(tensor.offset);
    auto const count = static_cast<std::size_t>(tensor.count);
    std::vector<double> const x(state.x.begin() + tensor.offset, state.x.begin() + tensor.offset + tensor.count);
    std::vector<double> u(count);
    for (std::size_t k = 0; k < count; ++k) {
      u[k] = adam(config, step, gradient[first + k], state.m[first + k], state.v[first + k]);
      if (tensor.decays) u[k] += config.weight_decay * x[k];
    }
    double const weight_norm = norm_of(x);
    double const update_norm = norm_of(u);
    double ratio = 1;
    if (tensor.adapts && weight_norm > 0 && update_norm > 0)
      ratio = std::clamp(weight_norm / update_norm, config.min_coefficient, config.max_coefficient);
    for (std::size_t k = 0; k < count; ++k) state.x[first + k] = x[k] - rate * ratio * u[k];
    report.trust_ratio.push_back(ratio);
    report.weight_norm.push_back(weight_norm);
    report.update_norm.push_back(update_norm);
  }
  return report;
}

ReferenceReport reference_adamw(ParameterLayout const& layout, optim::OptimizerConfig const& config, int step,
                                double rate, std::vector<double> gradient, ReferenceState& state) {
  ReferenceReport report;
  report.norm = norm_of(gradient);
  report.clip_factor = clip(gradient, report.norm, config.clip);
  for (auto const& tensor : layout.tensors()) {
    double const decay = tensor.decays ? config.weight_decay : 0;
    for (auto k = static_cast<std::size_t>(tensor.offset); k < static_cast<std::size_t>(tensor.offset + tensor.count);
         ++k) {
      double const update = adam(config, step, gradient[k], state.m[k], state.v[k]);
      state.x[k] = state.x[k] - rate * update - rate * decay * state.x[k];
    }
  }
  return report;
}

}  // namespace bellwether::test
