// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/bit_kernels.hpp"
#include "model/optim/strategies/one_bit/exchange_form.hpp"
#include "tests/model/optim/rules/decoded_kernel_fixture.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

// Compares the input of an exchange of momenta in bits, and the kernels after it, with the formulas in double, in every
// enabled space.

using namespace bellwether;
using namespace bellwether::test;
using namespace bellwether::test::after_exchange;
using optim::Exchange;
using optim::Unify;

namespace {

/// What a form returns: by element, by word of adjacent elements, and by block of one tensor, as devices read it.
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
template <class Form, int many>
struct FormedByBlock {
  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    Form own = form;
    Index const first = many * at, last = first + many < count ? first + many : count;
    if (own.begin_block(first, last) && last - first == many) {
      float values[many];
      own.of_block(first, values);
      for (int e = 0; e < many; ++e) to[first + e] = values[e];
    } else {
      for (Index k = first; k < last; ++k) to[k] = own(k);
    }
  }
  Form form;
  Index count;
  float* to;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("1-bit LAMB and Adam with a sign momentum agree with the formulas in double", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers numbers(layout);
  auto const unify = GENERATE(Unify::element, Unify::layer, Unify::none);
  bool const steered = GENERATE(false, true), in_bits = GENERATE(false, true), shows = GENERATE(false, true);
  Step<TestType> lamb(layout, numbers, false, 0), adam(layout, numbers, false, 0);
  auto const units = lamb.units(Exchange::momentum, unify, 0);
  optim::HeldMomentum const before =
      in_bits ? optim::HeldMomentum{.bits = lamb.past()} : optim::HeldMomentum{.numbers = lamb.m.data()};
  auto sums = lamb.bit_sums(units, before);
  if (!shows) sums.direction = nullptr;
  if (!steered) sums.fresh = nullptr;
  optim::bit_lamb_sums(lamb.exec, lamb.context(), sums, lamb.norms);
  optim::FactorBounds const bounds{0.5, 4, 0.1};
  optim::decoded_lamb_factors(lamb.exec, lamb.context(), bounds, lamb.norms, lamb.record());
  auto lamb_step = lamb.bit_step(units);
  lamb_step.ratios = lamb.record().lamb.trust_ratio;
  lamb_step.direction = nullptr;
  optim::bit_apply(lamb.exec, lamb.context(), lamb_step);
  auto adam_step = adam.bit_step(adam.units(Exchange::momentum, unify, 0));
  if (!shows) adam_step.direction = nullptr;
  optim::bit_apply(adam.exec, adam.context(), adam_step);
  lamb.exec.fence("bellwether::test::bit_kernels");
  adam.exec.fence("bellwether::test::bit_kernels");

  std::vector<double> u, adam_x, lamb_x, f;
  Layers layers(layout);
  for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
    auto const& tensor = layout.tensors()[l];
    double const decays = tensor.decays ? decay : 0;
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
      layers.add(element, numbers.x[k], steered);
    }
    double const ratio = layers.close(l, bounds);
    for (auto k = first; k < end; ++k) lamb_x.push_back(numbers.x[k] - rate * ratio * u[k]);
  }
  if (shows) {
    CHECK(worst(downloaded(lamb.g), u) < 2e-6);
    CHECK(worst(downloaded(adam.g), u) < 2e-6);
  } else {
    CHECK((downloaded(lamb.g) == numbers.g));
    CHECK((downloaded(adam.g) == numbers.g));
  }
  if (steered)
    CHECK(worst(downloaded(lamb.f), f) < 4e-6);
  else
    CHECK((downloaded(lamb.f) == numbers.f));
  CHECK(worst(downloaded(lamb.x), lamb_x) < 2e-6);
  CHECK(worst(downloaded(adam.x), adam_x) < 2e-6);
  layers.check(downloaded(lamb.layers));
}

TEMPLATE_LIST_TEST_CASE("a rank sends the same from a sign momentum as from its numbers", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  auto const unify = GENERATE(Unify::element, Unify::layer, Unify::none);
  Step<TestType> step(layout, numbers, false, 0);
  auto const units = step.units(Exchange::momentum, unify, 0);
  optim::MomentumBits const bits = step.past();
  auto const n = static_cast<Index>(numbers.n);
  Vec<float, TestType> const from_bits("bellwether::test::sent", numbers.n),
      by_words("bellwether::test::sent", numbers.n), by_fours("bellwether::test::sent", numbers.n),
      by_ones("bellwether::test::sent", numbers.n);
  optim::with_exchange_form(
      units, coefficients(), {.bits = bits}, step.g.data(), step.gradient_check.data(), [&](auto const& form) {
        Kokkos::parallel_for("bellwether::test::form", Kokkos::RangePolicy<TestType>(step.exec, 0, numbers.n),
                             Formed<std::decay_t<decltype(form)>>{form, from_bits.data()});
        Kokkos::parallel_for("bellwether::test::form",
                             Kokkos::RangePolicy<TestType>(step.exec, 0, numbers.signs.size()),
                             FormedByWord<std::decay_t<decltype(form)>>{form, n, by_words.data()});
        Kokkos::parallel_for("bellwether::test::form", Kokkos::RangePolicy<TestType>(step.exec, 0, (n + 3) / 4),
                             FormedByBlock<std::decay_t<decltype(form)>, 4>{form, n, by_fours.data()});
        Kokkos::parallel_for("bellwether::test::form", Kokkos::RangePolicy<TestType>(step.exec, 0, n),
                             FormedByBlock<std::decay_t<decltype(form)>, 1>{form, n, by_ones.data()});
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
  CHECK(worst(downloaded(by_fours), sent) < 1e-6);
  CHECK(worst(downloaded(by_ones), sent) < 1e-6);
}

TEMPLATE_LIST_TEST_CASE("a skipped step changes nothing if the momentum is in bits", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  Step<TestType> step(layout, numbers, false, 1);
  auto const units = step.units(Exchange::momentum, GENERATE(Unify::element, Unify::layer), 0);
  optim::bit_lamb_sums(step.exec, step.context(), step.bit_sums(units, {.bits = step.past()}), step.norms);
  optim::decoded_lamb_factors(step.exec, step.context(), {0.5, 4, 0.1}, step.norms, step.record());
  optim::bit_apply(step.exec, step.context(), step.bit_step(units));
  step.exec.fence("bellwether::test::bit_kernels");
  CHECK((downloaded(step.x) == numbers.x));
  CHECK((downloaded(step.g) == numbers.g));
  CHECK((downloaded(step.f) == numbers.f));
  CHECK((downloaded(step.layers) == std::vector<float>(6 * layout.tensors().size(), 1.0f)));
}
