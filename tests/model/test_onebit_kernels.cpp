// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random.hpp"
#include "model/optim/bit_kernels.hpp"
#include "model/optim/exchange_form.hpp"
#include "model/optim/onebit_kernels.hpp"
#include "tests/model/optimizer_harness.hpp"
#include "tests/support/spaces.hpp"
#include "tests/support/vectors.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

// What follows an exchange, in every enabled space, against the formulas of algorithm 1 of arXiv 2104.06069 in double.

using namespace bellwether;
using namespace bellwether::test;
using optim::Exchange;
using optim::Unify;

namespace {

constexpr double epsilon = 1e-6, rate = 0.01, decay = 0.01, clip = 0.7, beta1 = 0.9, beta2 = 0.99;

/// Numbers of a step on the host: state, and the mean of an exchange as signs, life and magnitudes of words.
struct Numbers {
  explicit Numbers(ParameterLayout const& layout) : n(static_cast<std::size_t>(layout.count())), live(n) {
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
      live[k] = stream.real() < 0.9;
      bool const positive = stream.real() < 0.5;
      std::uint32_t const bit = 0x80000000u >> (k % 32);
      if (live[k]) life[k / 32] |= bit;
      if (live[k] && positive) signs[k / 32] |= bit;
      mean.push_back(!live[k] ? 0 : positive ? magnitudes[k / 32] : -magnitudes[k / 32]);
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
    // The exchange before: other signs and magnitudes of the same live elements, and units that have grown since.
    past_signs.resize(signs.size());
    for (std::size_t w = 0; w < signs.size(); ++w) past_magnitudes.push_back(between(0.5, 2));
    for (std::size_t k = 0; k < n; ++k) {
      bool const positive = stream.real() < 0.5;
      if (live[k] && positive) past_signs[k / 32] |= 0x80000000u >> (k % 32);
      past_mean.push_back(!live[k] ? 0 : positive ? past_magnitudes[k / 32] : -past_magnitudes[k / 32]);
    }
    for (std::size_t l = 0; l < growth.size(); ++l) past_growth.push_back(between(0.5, 2));
  }

  std::size_t n;
  std::vector<bool> live;
  std::vector<float> x, g, m, v, f, mean, magnitudes, growth, by_tensor, past_mean, past_magnitudes, past_growth;
  std::vector<std::uint32_t> signs, life, past_signs;
  std::vector<std::int32_t> tensor_of;
  std::vector<Index> end;
};

/// The same in the memory of a space, with the kernels' other arguments.
template <class Space>
struct Step {
  Step(ParameterLayout const& layout, Numbers const& numbers, bool exact, std::int32_t skip)
      : table(layout),
        rules(optim::tensor_rules<Space>(layout, decay)),
        verdict("bellwether::test::verdict", 1),
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
    optim::Verdict const judged{.clip_factor = clip, .skip = skip};
    Kokkos::deep_copy(verdict, judged);
    Kokkos::deep_copy(layers, 1.0f);
  }
  optim::Units units(Exchange exchange, Unify unify, float lead) const {
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
  optim::OnebitRecord record() const {
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
  Vec<optim::Verdict, Space> verdict;
  Vec<float, Space> x, g, m, v, f, values, magnitudes, growth, past_magnitudes, past_growth, by_tensor;
  Vec<std::uint32_t, Space> signs, life, past_signs;
  Vec<std::int32_t, Space> tensor_of;
  Vec<Index, Space> end;
  Vec<double, Space> norms;
  Vec<float, Space> layers;
  comm::Decoded mean;
};

optim::Coefficients<float> coefficients() {
  optim::OptimizerConfig config;
  config.beta1 = beta1;
  config.beta2 = beta2;
  config.epsilon = epsilon;
  return optim::coefficients<float>(config, 9);
}

/// Momentum, direction with and without decay, fresh variance and the ratio of roots of one element, in double.
struct Element {
  Element(Numbers const& numbers, std::size_t k, std::size_t tensor, double decays, Exchange exchange, Unify unify,
          double lead) {
    double const before = numbers.m[k], value = numbers.mean[k];
    double const root = numbers.growth[tensor] * std::sqrt(static_cast<double>(numbers.v[k])) + epsilon;
    double const divisor = unify == Unify::layer ? numbers.by_tensor[tensor] : 1;
    double const restored = unify == Unify::element ? value * root : value / divisor;
    m = exchange == Exchange::gradient ? beta1 * before + (1 - beta1) * restored : restored;
    if (!numbers.live[k]) m = 0;
    u0 = (m + lead * (m - before)) / root;
    u = u0 + decays * numbers.x[k];
    double const g = numbers.live[k] ? (m - beta1 * before) / (1 - beta1) : 0;
    f = beta2 * numbers.f[k] + (1 - beta2) * g * g;
    ratio = numbers.live[k] ? root / (std::sqrt(f) + epsilon) : 0;
  }
  double m, u0, u, f, ratio;
};

/// What a form gives, element by element and as words of neighbours.
template <class Form>
struct Formed {
  KOKKOS_INLINE_FUNCTION void operator()(Index k) const { to[k] = form(k); }
  Form form;
  float* to;
};
template <class Form>
struct FormedByWord {
  KOKKOS_INLINE_FUNCTION void operator()(Index w) const {
    Form own = form;
    Index const first = 32 * w, last = first + 32 < count ? first + 32 : count;
    own.begin_word(first, last);
    for (Index k = first; k < last; ++k) to[k] = own.at(k, static_cast<int>(k - first));
  }
  Form form;
  Index count;
  float* to;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("1-bit LAMB and Adam after an exchange are the formulas in double", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  auto const exchange = GENERATE(Exchange::gradient, Exchange::momentum);
  auto const unify = GENERATE(Unify::element, Unify::layer, Unify::none);
  bool const exact = GENERATE(false, true);
  bool const steered = GENERATE(false, true);
  float const lead = GENERATE(0.0f, 0.9f);
  Step<TestType> lamb(layout, numbers, exact, 0), adam(layout, numbers, exact, 0);
  auto const units = lamb.units(exchange, unify, lead);
  optim::onebit_lamb_moments(lamb.exec, lamb.table, lamb.rules, coefficients(), units, lamb.mean, lamb.verdict,
                             lamb.x.data(), lamb.v.data(), lamb.g.data(), lamb.m.data(),
                             steered ? lamb.f.data() : nullptr, lamb.norms);
  optim::FactorBounds const bounds{0.5, 4, 0.1};
  optim::onebit_lamb_factors(lamb.exec, lamb.table, lamb.rules, bounds, lamb.verdict, lamb.norms, lamb.record());
  optim::onebit_adam_apply(adam.exec, adam.table, adam.rules, coefficients(), adam.units(exchange, unify, lead),
                           adam.mean, rate, adam.verdict, adam.v.data(), adam.x.data(), adam.m.data(), adam.g.data());
  lamb.exec.fence("bellwether::test::onebit_kernels");
  adam.exec.fence("bellwether::test::onebit_kernels");

  std::vector<double> m, u, x, f, layers(3 * layout.tensors().size());
  for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
    auto const& tensor = layout.tensors()[l];
    double const decays = tensor.decays ? decay : 0;
    double weights = 0, updates = 0, directions = 0, largest = 0;
    for (auto k = static_cast<std::size_t>(tensor.offset); k < static_cast<std::size_t>(numbers.end[l]); ++k) {
      Element const element(numbers, k, l, decays, exchange, unify, static_cast<double>(lead));
      m.push_back(element.m);
      u.push_back(element.u);
      f.push_back(steered ? element.f : static_cast<double>(numbers.f[k]));
      x.push_back(numbers.x[k] - rate * element.u);
      weights += std::pow(static_cast<double>(numbers.x[k]), 2);
      updates += element.u * element.u;
      directions += element.u0 * element.u0;
      if (steered) largest = larger(largest, element.ratio);
    }
    double const r = optim::next_factor(largest > 0 ? largest : 1, std::sqrt(directions), std::sqrt(updates),
                                        tensor.decays, 1, bounds);
    layers[l] = tensor.adapts ? r : 1;  // the average is 1
    layers[layout.tensors().size() + l] = std::sqrt(weights);
    layers[2 * layout.tensors().size() + l] = std::sqrt(updates);
  }
  CHECK(worst(downloaded(lamb.m), m) < 1e-6);
  CHECK(worst(downloaded(lamb.g), u) < 2e-6);
  CHECK(worst(downloaded(lamb.f), f) < 4e-6);
  CHECK(worst(downloaded(adam.m), m) < 1e-6);
  CHECK(worst(downloaded(adam.g), u) < 2e-6);
  CHECK(worst(downloaded(adam.x), x) < 2e-6);
  auto const told = downloaded(lamb.layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(static_cast<double>(told[i]) - layers[i]) <= 3e-6 * std::abs(layers[i]));
  }
}

TEMPLATE_LIST_TEST_CASE("1-bit LAMB and Adam whose momentum is bits are the formulas in double", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers numbers(layout);
  auto const unify = GENERATE(Unify::element, Unify::layer, Unify::none);
  bool const steered = GENERATE(false, true), in_bits = GENERATE(false, true), shows = GENERATE(false, true);
  Step<TestType> lamb(layout, numbers, false, 0), adam(layout, numbers, false, 0);
  auto const units = lamb.units(Exchange::momentum, unify, 0);
  // As at the first exchange: numbers lie where the fresh variance will be, which goes on from another one's.
  auto const kept_apart = uploaded<TestType>(numbers.f);
  if (!in_bits) Kokkos::deep_copy(lamb.f, lamb.m);
  optim::HeldMomentum const before =
      in_bits ? optim::HeldMomentum{.bits = lamb.past()} : optim::HeldMomentum{.numbers = lamb.f.data()};
  optim::bit_lamb_sums(lamb.exec, lamb.table, lamb.rules, coefficients(), units, lamb.mean, before, lamb.verdict,
                       lamb.x.data(), shows ? lamb.g.data() : nullptr, kept_apart.data(),
                       steered ? lamb.f.data() : nullptr, lamb.norms);
  optim::FactorBounds const bounds{0.5, 4, 0.1};
  optim::onebit_lamb_factors(lamb.exec, lamb.table, lamb.rules, bounds, lamb.verdict, lamb.norms, lamb.record());
  optim::bit_apply(lamb.exec, lamb.table, lamb.rules, units, lamb.mean, rate, lamb.verdict,
                   lamb.record().lamb.trust_ratio, lamb.x.data(), nullptr);
  optim::bit_apply(adam.exec, adam.table, adam.rules, adam.units(Exchange::momentum, unify, 0), adam.mean, rate,
                   adam.verdict, nullptr, adam.x.data(), shows ? adam.g.data() : nullptr);
  lamb.exec.fence("bellwether::test::bit_kernels");
  adam.exec.fence("bellwether::test::bit_kernels");

  std::vector<double> u, adam_x, lamb_x, f, layers(3 * layout.tensors().size());
  for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
    auto const& tensor = layout.tensors()[l];
    double const decays = tensor.decays ? decay : 0;
    double weights = 0, updates = 0, directions = 0, largest = 0;
    auto const first = static_cast<std::size_t>(tensor.offset), end = static_cast<std::size_t>(numbers.end[l]);
    for (auto k = first; k < end; ++k) {
      if (in_bits) {
        double const root = numbers.past_growth[l] * std::sqrt(static_cast<double>(numbers.v[k])) + epsilon;
        double const divisor = unify == Unify::layer ? numbers.by_tensor[l] : 1;
        numbers.m[k] =
            static_cast<float>(unify == Unify::element ? numbers.past_mean[k] * root : numbers.past_mean[k] / divisor);
      }
      Element const element(numbers, k, l, decays, Exchange::momentum, unify, 0);
      u.push_back(element.u);
      f.push_back(element.f);
      adam_x.push_back(numbers.x[k] - rate * element.u);
      weights += std::pow(static_cast<double>(numbers.x[k]), 2);
      updates += element.u * element.u;
      directions += element.u0 * element.u0;
      if (steered) largest = larger(largest, element.ratio);
    }
    double const r = optim::next_factor(largest > 0 ? largest : 1, std::sqrt(directions), std::sqrt(updates),
                                        tensor.decays, 1, bounds);
    layers[l] = tensor.adapts ? r : 1;  // the average is 1
    layers[layout.tensors().size() + l] = std::sqrt(weights);
    layers[2 * layout.tensors().size() + l] = std::sqrt(updates);
    for (auto k = first; k < end; ++k) lamb_x.push_back(numbers.x[k] - rate * layers[l] * u[k]);
  }
  if (shows) {
    CHECK(worst(downloaded(lamb.g), u) < 2e-6);
    CHECK(worst(downloaded(adam.g), u) < 2e-6);
  } else {
    CHECK((downloaded(lamb.g) == numbers.g));
    CHECK((downloaded(adam.g) == numbers.g));
  }
  if (steered) CHECK(worst(downloaded(lamb.f), f) < 4e-6);
  CHECK(worst(downloaded(lamb.x), lamb_x) < 2e-6);
  CHECK(worst(downloaded(adam.x), adam_x) < 2e-6);
  auto const told = downloaded(lamb.layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(static_cast<double>(told[i]) - layers[i]) <= 3e-6 * std::abs(layers[i]));
  }
}

TEMPLATE_LIST_TEST_CASE("what a rank sends is the same from a momentum in bits as from its numbers", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  auto const unify = GENERATE(Unify::element, Unify::layer, Unify::none);
  Step<TestType> step(layout, numbers, false, 0);
  auto const units = step.units(Exchange::momentum, unify, 0);
  optim::MomentumBits const bits = step.past();
  Vec<float, TestType> const from_bits("bellwether::test::sent", numbers.n),
      by_words("bellwether::test::sent", numbers.n);
  optim::with_exchange_form(
      units, coefficients(), {.bits = bits}, step.g.data(), step.verdict.data(), [&](auto const& form) {
        Kokkos::parallel_for("bellwether::test::form", Kokkos::RangePolicy<TestType>(step.exec, 0, numbers.n),
                             Formed<std::decay_t<decltype(form)>>{form, from_bits.data()});
        Kokkos::parallel_for(
            "bellwether::test::form", Kokkos::RangePolicy<TestType>(step.exec, 0, numbers.signs.size()),
            FormedByWord<std::decay_t<decltype(form)>>{form, static_cast<Index>(numbers.n), by_words.data()});
        return 0;
      });
  step.exec.fence("bellwether::test::form");
  std::vector<double> sent;
  for (std::size_t l = 0; l < layout.tensors().size(); ++l)
    for (auto k = sent.size(); k < static_cast<std::size_t>(numbers.end[l]); ++k) {
      double const shape = std::sqrt(static_cast<double>(numbers.v[k])), s = numbers.by_tensor[l];
      double const root = numbers.growth[l] * shape + epsilon, then = numbers.past_growth[l] * shape + epsilon;
      double const value = numbers.past_mean[k];
      double const m = unify == Unify::element ? value * then : unify == Unify::layer ? value / s : value;
      double const next = beta1 * m + (1 - beta1) * clip * numbers.g[k];
      sent.push_back(unify == Unify::element ? next / root : unify == Unify::layer ? next * s : next);
    }
  CHECK(worst(downloaded(from_bits), sent) < 1e-6);
  CHECK(worst(downloaded(by_words), sent) < 1e-6);
}

TEMPLATE_LIST_TEST_CASE("SGD with momentum, dense and after an exchange, is the formula in double", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  bool const exact = GENERATE(false, true);
  Step<TestType> dense(layout, numbers, exact, 0), onebit(layout, numbers, exact, 0);
  optim::sgd_apply(dense.exec, dense.table, dense.rules, static_cast<float>(beta1), rate, dense.verdict, dense.g.data(),
                   dense.x.data(), dense.m.data());
  optim::onebit_sgd_apply(onebit.exec, onebit.table, onebit.rules, static_cast<float>(beta1), onebit.mean, rate,
                          onebit.verdict, onebit.x.data(), onebit.m.data());
  dense.exec.fence("bellwether::test::onebit_kernels");
  onebit.exec.fence("bellwether::test::onebit_kernels");
  std::vector<double> m, x, bits_m, bits_x;
  for (std::size_t l = 0; l < layout.tensors().size(); ++l)
    for (auto k = m.size(); k < static_cast<std::size_t>(numbers.end[l]); ++k) {
      double const decayed = (layout.tensors()[l].decays ? decay : 0) * numbers.x[k];
      m.push_back(beta1 * numbers.m[k] + clip * numbers.g[k] + decayed);
      bits_m.push_back(beta1 * numbers.m[k] + (numbers.live[k] ? static_cast<double>(numbers.mean[k]) : decayed));
      x.push_back(numbers.x[k] - rate * m.back());
      bits_x.push_back(numbers.x[k] - rate * bits_m.back());
    }
  CHECK(worst(downloaded(dense.m), m) < 1e-6);
  CHECK(worst(downloaded(dense.x), x) < 1e-6);
  CHECK(worst(downloaded(onebit.m), bits_m) < 1e-6);
  CHECK(worst(downloaded(onebit.x), bits_x) < 1e-6);
}

TEMPLATE_LIST_TEST_CASE("a step that is skipped leaves every bit after an exchange as it was", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  Step<TestType> step(layout, numbers, false, 1);
  auto const units = step.units(Exchange::gradient, Unify::element, 0.9f);
  optim::onebit_lamb_moments(step.exec, step.table, step.rules, coefficients(), units, step.mean, step.verdict,
                             step.x.data(), step.v.data(), step.g.data(), step.m.data(), step.f.data(), step.norms);
  optim::onebit_lamb_factors(step.exec, step.table, step.rules, {0.5, 4, 0.1}, step.verdict, step.norms, step.record());
  optim::onebit_adam_apply(step.exec, step.table, step.rules, coefficients(), units, step.mean, rate, step.verdict,
                           step.v.data(), step.x.data(), step.m.data(), step.g.data());
  optim::sgd_apply(step.exec, step.table, step.rules, static_cast<float>(beta1), rate, step.verdict, step.g.data(),
                   step.x.data(), step.m.data());
  optim::onebit_sgd_apply(step.exec, step.table, step.rules, static_cast<float>(beta1), step.mean, rate, step.verdict,
                          step.x.data(), step.m.data());
  step.exec.fence("bellwether::test::onebit_kernels");
  CHECK((downloaded(step.x) == numbers.x));
  CHECK((downloaded(step.g) == numbers.g));
  CHECK((downloaded(step.m) == numbers.m));
  CHECK((downloaded(step.f) == numbers.f));
  CHECK((downloaded(step.layers) == std::vector<float>(6 * layout.tensors().size(), 1.0f)));
}
