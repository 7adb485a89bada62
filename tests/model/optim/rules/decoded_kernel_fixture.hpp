// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"
#include "model/optim/rules/bit_kernels.hpp"
#include "model/optim/rules/decoded_kernels.hpp"
#include "model/optim/rules/sign_momentum.hpp"
#include "tests/model/optim/optimizer_harness.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/vectors.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

/// Inputs for tests of the kernels after an exchange, and the formulas of algorithm 1 of arXiv 2104.06069 in double.
namespace bellwether::test::after_exchange {

inline constexpr double epsilon = 1e-6, rate = 0.01, decay = 0.01, clip = 0.7, beta1 = 0.9, beta2 = 0.99;

/// Numbers of a step on the host: the state, and the mean of an exchange as signs, active bits and magnitudes by word.
struct Numbers {
  explicit Numbers(ParameterLayout const& layout) : n(static_cast<std::size_t>(layout.count())), active(n) {
    RandomStream stream(5, Purpose::sketch, 0);
    auto const between = [&](double least, double most) {
      return static_cast<float>(least + (most - least) * stream.real());
    };
    signs.resize((n + 31) / 32);
    life.resize(signs.size());
    for (std::size_t w = 0; w < signs.size(); ++w) magnitudes.push_back(between(0.5, 2));
    for (std::size_t k = 0; k < n; ++k) {
      x.push_back(between(-0.1, 0.1));
      g.push_back(between(-0.01, 0.01));
      m.push_back(between(-0.01, 0.01));
      v.push_back(between(1e-6, 1e-4));
      f.push_back(between(1e-6, 1e-4));
      active[k] = stream.real() < 0.9;
      bool const positive = stream.real() < 0.5;
      std::uint32_t const bit = 0x80000000u >> (k % 32);
      if (active[k]) life[k / 32] |= bit;
      if (active[k] && positive) signs[k / 32] |= bit;
      mean.push_back(!active[k] ? 0 : positive ? magnitudes[k / 32] : -magnitudes[k / 32]);
    }
    for (auto const& tensor : layout.tensors()) {
      end.push_back(tensor.offset + tensor.count);
      growth.push_back(between(0.5, 2));
      by_tensor.push_back(between(10, 100));
    }
    for (std::size_t w = 0; w < signs.size(); ++w) {
      std::int32_t tensor = 0;
      while (end[static_cast<std::size_t>(tensor)] <= static_cast<Index>(32 * w)) ++tensor;
      tensor_of.push_back(tensor);
    }
    // The exchange before: other signs and magnitudes for the same active elements, with units that have grown since.
    past_signs.resize(signs.size());
    for (std::size_t w = 0; w < signs.size(); ++w) past_magnitudes.push_back(between(0.5, 2));
    for (std::size_t k = 0; k < n; ++k) {
      bool const positive = stream.real() < 0.5;
      if (active[k] && positive) past_signs[k / 32] |= 0x80000000u >> (k % 32);
      past_mean.push_back(!active[k] ? 0 : positive ? past_magnitudes[k / 32] : -past_magnitudes[k / 32]);
    }
    for (std::size_t l = 0; l < growth.size(); ++l) past_growth.push_back(between(0.5, 2));
  }

  std::size_t n;
  std::vector<bool> active;
  std::vector<float> x, g, m, v, f, mean, magnitudes, growth, by_tensor, past_mean, past_magnitudes, past_growth;
  std::vector<std::uint32_t> signs, life, past_signs;
  std::vector<std::int32_t> tensor_of;
  std::vector<Index> end;
};

inline optim::Coefficients<float> coefficients() {
  optim::OptimizerConfig config;
  config.beta1 = beta1;
  config.beta2 = beta2;
  config.epsilon = epsilon;
  return optim::coefficients<float>(config, 9);
}

/// The same numbers in the memory of a space, and the kernels' other arguments.
template <class Space>
struct Step {
  Step(ParameterLayout const& layout, Numbers const& numbers, bool exact, std::int32_t skip)
      : table(layout),
        rules(optim::tensor_rules<Space>(layout, decay)),
        gradient_check("bellwether::test::gradient_check", 1),
        x(uploaded<Space>(numbers.x)),
        g(uploaded<Space>(numbers.g)),
        m(uploaded<Space>(numbers.m)),
        v(uploaded<Space>(numbers.v)),
        f(uploaded<Space>(numbers.f)),
        values(uploaded<Space>(numbers.mean)),
        magnitudes(uploaded<Space>(numbers.magnitudes)),
        growth(uploaded<Space>(numbers.growth)),
        past_magnitudes(uploaded<Space>(numbers.past_magnitudes)),
        past_growth(uploaded<Space>(numbers.past_growth)),
        by_tensor(uploaded<Space>(numbers.by_tensor)),
        signs(uploaded<Space>(numbers.signs)),
        life(uploaded<Space>(numbers.life)),
        past_signs(uploaded<Space>(numbers.past_signs)),
        tensor_of(uploaded<Space>(numbers.tensor_of)),
        end(uploaded<Space>(numbers.end)),
        norms("bellwether::test::norms", static_cast<std::size_t>(4 * table.count())),
        layers("bellwether::test::layers", 6 * layout.tensors().size()),
        mean(signs.data(), life.data(), magnitudes.data(), exact ? values.data() : nullptr) {
    optim::GradientCheck const checked{.clip_factor = clip, .skip = skip};
    Kokkos::deep_copy(gradient_check, checked);
    Kokkos::deep_copy(layers, 1.0f);
  }
  optim::Units units(optim::Exchange exchange, optim::Unify unify, float lead) const {
    return {.exchange = exchange,
            .unify = unify,
            .epsilon = static_cast<float>(epsilon),
            .variance = v.data(),
            .by_tensor = by_tensor.data(),
            .tensor_of = tensor_of.data(),
            .end = end.data(),
            .growth = growth.data(),
            .lead = lead};
  }
  optim::KernelContext<Space> context() const { return {table, rules, gradient_check}; }
  /// Arguments of the kernels after an exchange in these units.
  optim::DecodedLambMoments lamb_moments(optim::Units const& in, bool steered) const {
    return {.coefficients = coefficients(),
            .units = in,
            .mean = mean,
            .parameters = x.data(),
            .variance = v.data(),
            .direction = g.data(),
            .momentum = m.data(),
            .fresh = steered ? f.data() : nullptr};
  }
  optim::DecodedAdamStep adam_step(optim::Units const& in) const {
    return {.coefficients = coefficients(),
            .units = in,
            .mean = mean,
            .learning_rate = rate,
            .variance = v.data(),
            .parameters = x.data(),
            .momentum = m.data(),
            .direction = g.data()};
  }
  optim::DecodedSgdStep decoded_sgd_step() const {
    return {.beta1 = static_cast<float>(beta1),
            .mean = mean,
            .learning_rate = rate,
            .parameters = x.data(),
            .momentum = m.data()};
  }
  optim::SgdStep sgd_step() const {
    return {.beta1 = static_cast<float>(beta1),
            .learning_rate = rate,
            .gradient = g.data(),
            .parameters = x.data(),
            .momentum = m.data()};
  }
  optim::BitLambSums bit_sums(optim::Units const& in, optim::HeldMomentum const& before) const {
    return {.coefficients = coefficients(),
            .units = in,
            .mean = mean,
            .before = before,
            .parameters = x.data(),
            .direction = g.data(),
            .fresh = f.data()};
  }
  optim::BitStep bit_step(optim::Units const& in) const {
    return {.units = in,
            .mean = mean,
            .learning_rate = rate,
            .ratios = nullptr,
            .parameters = x.data(),
            .direction = g.data()};
  }
  optim::FrozenLambRecord record() const {
    auto const tensors = table.tensors();
    float* const at = layers.data();
    return {{at, at + tensors, at + 2 * tensors}, at + 3 * tensors, at + 4 * tensors, at + 5 * tensors};
  }
  optim::MomentumBits past() const {
    return {{past_signs.data(), life.data(), past_magnitudes.data(), nullptr}, past_growth.data()};
  }
  Space exec;
  BlockTable<Space> table;
  Vec<optim::TensorRule, Space> rules;
  Vec<optim::GradientCheck, Space> gradient_check;
  Vec<float, Space> x, g, m, v, f, values, magnitudes, growth, past_magnitudes, past_growth, by_tensor;
  Vec<std::uint32_t, Space> signs, life, past_signs;
  Vec<std::int32_t, Space> tensor_of;
  Vec<Index, Space> end;
  Vec<double, Space> norms;
  Vec<float, Space> layers;
  comm::Decoded mean;
};

/// Expected momentum, direction with and without decay, fresh variance and ratio of roots of one element, in double.
struct Element {
  Element(Numbers const& numbers, std::size_t k, std::size_t tensor, double decays, optim::Exchange exchange,
          optim::Unify unify, double lead) {
    double const before = numbers.m[k], value = numbers.mean[k];
    double const root = numbers.growth[tensor] * std::sqrt(static_cast<double>(numbers.v[k])) + epsilon;
    double const divisor = unify == optim::Unify::layer ? numbers.by_tensor[tensor] : 1;
    double const restored = unify == optim::Unify::element ? value * root : value / divisor;
    m = exchange == optim::Exchange::gradient ? beta1 * before + (1 - beta1) * restored : restored;
    if (!numbers.active[k]) m = 0;
    u0 = (m + lead * (m - before)) / root;
    u = u0 + decays * numbers.x[k];
    double const g = numbers.active[k] ? (m - beta1 * before) / (1 - beta1) : 0;
    f = beta2 * numbers.f[k] + (1 - beta2) * g * g;
    ratio = numbers.active[k] ? root / (std::sqrt(f) + epsilon) : 0;
  }
  double m, u0, u, f, ratio;
};

/// Expected numbers by tensor: cavg r with an average of 1, and the norms of x and of u.
class Layers {
 public:
  explicit Layers(ParameterLayout const& layout) : layout_(layout), expected_(3 * layout.tensors().size()) {}
  void add(Element const& element, double x, bool steered) {
    weights_ += x * x;
    updates_ += element.u * element.u;
    directions_ += element.u0 * element.u0;
    if (steered) largest_ = larger(largest_, element.ratio);
  }
  /// Call after all elements of tensor l were added. Returns the factor of its learning rate.
  double close(std::size_t l, optim::FactorBounds const& bounds) {
    auto const& tensor = layout_.tensors()[l];
    std::size_t const tensors = layout_.tensors().size();
    double const r = optim::next_factor(largest_ > 0 ? largest_ : 1, std::sqrt(directions_), std::sqrt(updates_),
                                        tensor.decays, 1, bounds);
    expected_[l] = tensor.adapts ? r : 1;
    expected_[tensors + l] = std::sqrt(weights_);
    expected_[2 * tensors + l] = std::sqrt(updates_);
    weights_ = updates_ = directions_ = largest_ = 0;
    return expected_[l];
  }
  void check(std::vector<float> const& told) const {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(static_cast<double>(told[i]) - expected_[i]) <= 3e-6 * std::abs(expected_[i]));
    }
  }

 private:
  ParameterLayout const& layout_;
  std::vector<double> expected_;
  double weights_ = 0, updates_ = 0, directions_ = 0, largest_ = 0;
};

}  // namespace bellwether::test::after_exchange
