// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/one_bit/variance_growth.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace bellwether;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

/// One element, as many as columns, none, and several blocks. Only the first begins at a whole word.
ParameterLayout layout_of_sizes() {
  ParameterLayout layout;
  Index const sizes[] = {1, 32, 0, 9001, 257};
  for (Index const size : sizes) layout.add({.name = "t" + std::to_string(layout.tensors().size()), .shape = {size}});
  return layout;
}

template <class View>
std::vector<typename View::non_const_value_type> host(View const& values) {
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  return {copy.data(), copy.data() + copy.extent(0)};
}

template <class View>
void fill(View const& to, std::vector<typename View::non_const_value_type> const& values) {
  Kokkos::deep_copy(to,
                    Kokkos::View<typename View::const_value_type*, Kokkos::HostSpace>(values.data(), values.size()));
}

std::vector<float> gradient_of(Index count, double shift) {
  std::vector<float> g(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < g.size(); ++k)
    g[k] = static_cast<float>(std::sin(0.7 * static_cast<double>(k) + shift) * (1 + static_cast<double>(k % 5)));
  return g;
}

template <class Space>
struct Sketches {
  std::vector<float> operator()(std::vector<float> const& g, std::int64_t step) {
    fill(gradient, g);
    optim::sketch_tensors(exec, table,
                          {.values = gradient.data(),
                           .active = alive ? active.data() : nullptr,
                           .key = random_key(5, Purpose::sketch),
                           .step = step},
                          partial, sketches.data());
    exec.fence("bellwether::test::sketched");
    return host(sketches);
  }
  double square(std::vector<float> const& sketch, std::size_t tensor) const {
    double sum = 0;
    for (std::size_t c = 0; c < 32; ++c) sum += std::pow(static_cast<double>(sketch[32 * tensor + c]), 2);
    return sum;
  }
  double exact(std::vector<float> const& g, std::size_t tensor) const {
    auto const& info = layout.tensors()[tensor];
    double sum = 0;
    for (Index k = info.offset; k < info.offset + info.count; ++k)
      if (!alive || k % 3 != 0) sum += std::pow(static_cast<double>(g[static_cast<std::size_t>(k)]), 2);
    return sum;
  }
  void kill_every_third() {
    std::vector<std::uint32_t> words(active.extent(0));
    for (Index k = 0; k < layout.count(); ++k)
      if (k % 3 != 0) words[static_cast<std::size_t>(k / 32)] |= 0x80000000u >> (k % 32);
    fill(active, words);
    alive = true;
  }

  Space exec;
  ParameterLayout layout = layout_of_sizes();
  BlockTable<Space> table{layout};
  Vec<float, Space> gradient{"gradient", static_cast<std::size_t>(layout.count())};
  Vec<float, Space> partial{"partial", static_cast<std::size_t>(optim::growth_columns* table.count())};
  Vec<float, Space> sketches{"sketches", static_cast<std::size_t>(optim::VarianceGrowth::sketches(table.tensors()))};
  Vec<std::uint32_t, Space> active{"active", static_cast<std::size_t>((layout.count() + 31) / 32)};
  bool alive = false;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("sketches by tensor estimate squared norms without bias", "", test::Spaces) {
  Sketches<TestType> sketch;
  if (GENERATE(false, true)) sketch.kill_every_third();
  auto const g = gradient_of(sketch.layout.count(), 0.3);
  constexpr int steps = 600;
  for (std::size_t const tensor : {0, 1, 2, 3, 4}) {
    double const exact = sketch.exact(g, tensor);
    double sum = 0, squares = 0;
    for (int t = 1; t <= steps; ++t) {
      double const estimate = sketch.square(sketch(g, t), tensor);
      sum += estimate;
      squares += estimate * estimate;
    }
    CAPTURE(tensor, exact);
    double const mean = sum / steps, deviation = std::sqrt(std::max(0.0, squares / steps - mean * mean));
    if (tensor < 3) {  // at most one element in a column
      CHECK_THAT(mean, WithinRel(exact, 1e-5));
      CHECK(deviation <= 1e-5 * exact);
    } else {
      CHECK_THAT(mean, WithinAbs(exact, 4 * deviation / std::sqrt(static_cast<double>(steps))));
      // sqrt(2 / 32) for many elements in a column; less for few, whose squares do not scatter.
      CHECK(deviation < 1.1 * exact * std::sqrt(2.0 / 32));
      CHECK(deviation > 0.6 * exact * std::sqrt(2.0 / 32));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("sketches by tensor agree with their definition", "", test::Spaces) {
  Sketches<TestType> sketch;
  if (GENERATE(false, true)) sketch.kill_every_third();
  auto const g = gradient_of(sketch.layout.count(), 0.9);
  std::int64_t const step = 77;
  auto const key = random_key(5, Purpose::sketch);
  auto const found = sketch(g, step);
  for (std::size_t tensor = 0; tensor < sketch.layout.tensors().size(); ++tensor) {
    auto const& info = sketch.layout.tensors()[tensor];
    std::vector<double> expected(32, 0.0);
    for (Index j = 0; j < info.count; ++j) {
      Index const k = info.offset + j;
      if (sketch.alive && k % 3 == 0) continue;
      auto const word =
          philox(static_cast<std::uint32_t>(info.offset), 0x80000000u + static_cast<std::uint32_t>(j / 128),
                 static_cast<std::uint32_t>(step), 0, key.k0, key.k1)
              .x[j % 128 / 32];
      double const value = g[static_cast<std::size_t>(k)];
      expected[static_cast<std::size_t>(j % 32)] += (word << (j % 32) & 0x80000000u) != 0 ? value : -value;
    }
    for (std::size_t c = 0; c < 32; ++c) CHECK_THAT(found[32 * tensor + c], WithinAbs(expected[c], 3e-4));
  }
}

TEMPLATE_LIST_TEST_CASE("the mean of sketches by tensor is the sketch of the mean", "", test::Spaces) {
  Sketches<TestType> sketch;
  auto const one = gradient_of(sketch.layout.count(), 0.1), other = gradient_of(sketch.layout.count(), 2.0);
  std::vector<float> mean(one.size());
  for (std::size_t k = 0; k < mean.size(); ++k) mean[k] = 0.5f * (one[k] + other[k]);
  auto const a = sketch(one, 9), b = sketch(other, 9), both = sketch(mean, 9);
  for (std::size_t c = 0; c < both.size(); ++c) CHECK_THAT(0.5f * (a[c] + b[c]), WithinAbs(both[c], 2e-4));
}

TEMPLATE_LIST_TEST_CASE("sums of the variance follow Adam's with the clipped gradient", "", test::Spaces) {
  TestType exec;
  Vec<optim::GradientCheck, TestType> gradient_check("gradient_check", 1);
  Vec<float, TestType> sketches("sketches", 64), growth("growth", 2), roots("roots", 2);
  Vec<double, TestType> sums("sums", 2);
  std::vector<float> values(64, 0.0f);
  values[3] = 6;  // of the first tensor: a squared norm of 36
  values[40] = 1;
  fill(sketches, values);
  fill(sums, {4.0, 0.0});  // the second has no variance
  fill(growth, {1.0f, 1.0f});
  fill(roots, {1.0f, 1.0f});
  auto const step = [&](double clip, bool skip) {
    optim::GradientCheck v;
    v.clip_factor = clip;
    v.skip = skip;
    fill(gradient_check, {v});
    optim::grow_variance(exec, 0.9, gradient_check, static_cast<float const*>(sketches.data()),
                         {.sums = sums, .growth = growth, .roots = roots});
    exec.fence("bellwether::test::grown");
  };
  step(0.5, false);
  CHECK_THAT(host(growth)[0], WithinRel(0.9f + 0.1f * 9 / 4, 1e-6f));
  step(1, false);
  float const expected = 0.9f * (0.9f + 0.1f * 9 / 4) + 0.1f * 9;
  CHECK_THAT(host(growth)[0], WithinRel(expected, 1e-6f));
  CHECK_THAT(host(roots)[0], WithinRel(std::sqrt(expected), 1e-6f));
  auto const before = host(growth);
  step(1, true);
  CHECK(host(growth) == before);
  CHECK(host(growth)[1] == 1.0f);
  CHECK(host(roots)[1] == 1.0f);
  // A tensor whose variance was almost zero at the freeze.
  fill(sums, {1e-42, 0.0});
  step(1, false);
  CHECK(host(growth)[0] == std::numeric_limits<float>::max());
  CHECK(std::isfinite(host(roots)[0]));
}

TEMPLATE_LIST_TEST_CASE("sums by tensor exclude masked elements", "", test::Spaces) {
  Sketches<TestType> sketch;
  sketch.kill_every_third();
  std::vector<float> values(static_cast<std::size_t>(sketch.layout.count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 7);
  fill(sketch.gradient, values);
  Vec<double, TestType> partial("partial", static_cast<std::size_t>(sketch.table.count()));
  Vec<double, TestType> sums("sums", static_cast<std::size_t>(sketch.table.tensors()));
  optim::sum_tensors(sketch.exec, sketch.table, static_cast<float const*>(sketch.gradient.data()), sketch.active.data(),
                     partial, sums);
  sketch.exec.fence("bellwether::test::summed");
  for (std::size_t l = 0; l < sketch.layout.tensors().size(); ++l) {
    auto const& info = sketch.layout.tensors()[l];
    double expected = 0;
    for (Index k = info.offset; k < info.offset + info.count; ++k)
      expected += k % 3 != 0 ? static_cast<double>(k % 7) : 0;
    CHECK(host(sums)[l] == expected);
  }
}
