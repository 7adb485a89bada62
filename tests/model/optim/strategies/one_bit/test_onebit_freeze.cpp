// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/tensor_errors.hpp"
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/replay.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>

// What the freeze determines: units of tensors, active elements, and tensors without any. Oracles P3 and P11 of
// docs/developer/onebit_methods.md, section 7.

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

namespace {

bool finite(std::vector<float> const& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace

TEST_CASE("P3: at the freeze all tensors have the same magnitude in the units of the exchange") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  auto config = onebit(method, 3);
  config.unify = optim::Unify::layer;
  Training training(layout, config, group());
  training.start();
  // Magnitudes that differ between tensors by orders of magnitude.
  auto const step = [&](int t) {
    auto gradient = training.sample(t, group().rank());
    for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
      auto const& tensor = layout.tensors()[l];
      for (std::int64_t k = tensor.offset; k < tensor.offset + tensor.count; ++k)
        gradient[static_cast<std::size_t>(k)] *= std::pow(3.0f, static_cast<float>(l));
    }
    training.step(t, gradient);
  };
  for (int t = 1; t <= 3; ++t) step(t);
  auto const at_freeze = training.state();
  auto const &m = at_freeze.arrays.at("momentum"), &v = at_freeze.arrays.at("variance");
  step(4);
  auto const units = training.state().arrays.at("units");
  REQUIRE(on_all(units.size() == layout.tensors().size()));
  std::vector<double> magnitudes;
  double sum = 0, smallest = 1e30, largest = 0;
  for (auto const& tensor : layout.tensors()) {
    double squares = 0;
    int active = 0;
    for (std::int64_t i = 0; i < tensor.active; ++i) {
      auto const k = static_cast<std::size_t>(tensor.offset + i);
      if (v[k] == 0) continue;
      squares += static_cast<double>(m[k]) * m[k];
      ++active;
    }
    magnitudes.push_back(active > 0 ? std::sqrt(squares / active) : 0);
    if (active == 0) continue;
    sum += magnitudes.back();
    smallest = std::min(smallest, magnitudes.back());
    largest = larger(largest, magnitudes.back());
  }
  auto const counted = std::ranges::count_if(magnitudes, [](double magnitude) { return magnitude > 0; });
  CHECK(on_all(counted == std::ssize(magnitudes) - 2));  // all but "empty" and "zero_gradient"
  CHECK(on_all(largest > 100 * smallest));
  double const common = sum / static_cast<double>(counted);
  bool equal = true;
  for (std::size_t l = 0; l < units.size(); ++l)
    equal = equal && (magnitudes[l] > 0 ? std::abs(units[l] * magnitudes[l] / common - 1) < 1e-6 : units[l] == 1);
  CHECK(on_all(equal));
}

TEST_CASE("a tensor with variance but zero momentum at the freeze does not count for the common magnitude") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  auto config = onebit(method, 2);
  config.unify = optim::Unify::layer;
  config.exchange = optim::Exchange::momentum;
  config.beta1 = 0.5;
  config.clip = 0;
  Training training(layout, config, group());
  training.start();
  auto const quiet = static_cast<std::size_t>(layout.index_of("block"));
  auto const& tensor = layout.tensors()[quiet];
  auto const begin = static_cast<std::size_t>(tensor.offset), end = begin + static_cast<std::size_t>(tensor.count);
  // m = g / 2 after the first step; after the second, half of that minus g / 4.
  auto const step = [&](int t, float factor) {
    auto gradient = training.sample(t, group().rank());
    auto const first = training.sample(1, group().rank());
    for (std::size_t k = begin; k < end; ++k) gradient[k] = factor * first[k];
    training.step(t, gradient);
  };
  step(1, 1);
  step(2, -0.5f);
  auto const frozen = training.state();
  double most = 0, least = 1e30;
  for (std::size_t k = begin; k < end; ++k) {
    most = larger(most, frozen.arrays.at("momentum")[k]);
    least = std::min(least, static_cast<double>(frozen.arrays.at("variance")[k]));
  }
  REQUIRE(on_all(most == 0 && least > 0));
  auto const before = download(training.parameters);
  step(3, 1);
  auto const units = training.state().arrays.at("units");
  CHECK(on_all(units[quiet] == 1 && finite(units) && std::ranges::count(units, 1.0f) < std::ssize(units)));
  for (int t = 4; t <= 6; ++t) step(t, 1);
  auto const after = download(training.parameters);
  bool moved = finite(after);
  for (std::size_t k = begin; k < end; ++k) moved = moved && after[k] != before[k];
  CHECK(on_all(moved));
}

TEST_CASE("P11: a tensor without elements changes nothing, and nothing becomes NaN") {
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  auto config = onebit(method, 3);
  config.unify = GENERATE(optim::Unify::layer, optim::Unify::element);
  ParameterLayout const with = active_layout(), without = active_layout("empty");
  REQUIRE(with.count() == without.count());
  Training one(with, config, group()), other(without, config, group());
  for (auto* const training : {&one, &other}) {
    training->start();
    for (int t = 1; t <= 7; ++t) training->step(t, training->sample(t, group().rank()), 0.01, t == 7);
  }
  CHECK(on_all(one.optimizer->last_report().phase == optim::Phase::compressed));
  auto const parameters = download(one.parameters);
  CHECK(on_all(finite(parameters) && parameters == download(other.parameters)));
  bool all_finite = true;
  auto const state = one.state();
  for (auto const& [name, values] : state.arrays) all_finite = all_finite && (name == "layer_record" || finite(values));
  for (auto const& quantity : one.optimizer->last_report().layers) {  // contents of layer_record
    // An empty tensor has no shares.
    bool const share = std::ranges::count(comm::CompressionShares::names(), quantity.name) > 0;
    all_finite = all_finite && (share || finite(quantity.values));
  }
  CHECK(on_all(all_finite));
}

TEST_CASE("P11: replay accepts a tensor without elements") {
  using Json = nlohmann::json;
  Json gradients = Json::array();
  for (int t = 1; t <= 5; ++t) {
    Json step = Json::array();
    for (int rank = 0; rank < group().size(); ++rank)
      step.push_back({{0.1 * t, -0.2, 0.3 + rank}, Json::array(), {0.05, -0.01 * t}});
    gradients.push_back(step);
  }
  Json const input = {{"optimizer", {{"name", "onebit_lamb"}, {"freeze", {{"step", 3}}}, {"unify", "layer"}}},
                      {"tensors",
                       {{{"name", "a"}, {"initial", {0.5, -0.5, 1.0}}, {"weight_decay", 0.01}},
                        {{"name", "none"}, {"initial", Json::array()}, {"weight_decay", 0.01}},
                        {{"name", "b"}, {"initial", {0.1, 0.2}}, {"weight_decay", 0.0}}}},
                      {"learning_rates", {0.01, 0.01, 0.01, 0.01, 0.01}},
                      {"gradients", gradients}};
  auto const output = replay({input, group().size()}, group());
  if (group().rank() != 0) return;
  CHECK(output.at("steps").at(4).at("phase") == "compressed");
  auto const& final = output.at("final");
  for (auto const* name : {"parameters", "momentum", "variance", "fresh_variance"}) {
    INFO(name);
    REQUIRE(final.at(name).size() == 3);
    CHECK(final.at(name).at(1).empty());
    for (auto const& tensor : final.at(name))
      for (auto const& value : tensor) CHECK(std::isfinite(value.get<double>()));
  }
}

TEST_CASE("elements without variance at the freeze stay masked, even if a resumed run's layout activates them") {
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  ParameterLayout before, now;  // five rows of eight in use, then all
  for (auto* const layout : {&before, &now}) {
    layout->add({.name = "rows", .shape = {8, 16}, .active = layout == &before ? 80 : 128});
    layout->add({.name = "bias", .shape = {40}, .decays = false, .active = 40});
  }
  auto const config = onebit(method, 3);
  auto const gradient = [&](int t, bool all_rows) {
    std::vector<float> g(168);
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = 0.1f * std::sin(0.3f * static_cast<float>(k + 1) + static_cast<float>(t + 2 * group().rank()));
    if (!all_rows) std::fill(g.begin() + 80, g.begin() + 128, 0.0f);
    return g;
  };
  Training whole(before, config, group());
  upload(whole.parameters, std::vector<float>(168, 0.5f));
  for (int t = 1; t <= 3; ++t) whole.step(t, gradient(t, false));
  CHECK(on_all(!whole.optimizer->freezes_variance()));
  for (int t = 4; t <= 5; ++t) whole.step(t, gradient(t, false));
  CHECK(on_all(whole.optimizer->freezes_variance()));
  Training resumed(now, config, group());
  CHECK(on_all(!resumed.optimizer->freezes_variance()));
  resumed.restore(whole.state(), download(whole.parameters));
  CHECK(on_all(resumed.optimizer->freezes_variance()));
  for (int t = 6; t <= 9; ++t)
    for (auto* const training : {&whole, &resumed}) training->step(t, gradient(t, true));
  auto const x = download(resumed.parameters);
  CHECK(on_all(x == download(whole.parameters)));
  auto const m = resumed.state().arrays.at("momentum");
  CHECK(on_all(std::all_of(m.begin() + 80, m.begin() + 128, [](float value) { return value == 0; })));
  CHECK(on_all(std::any_of(m.begin(), m.begin() + 80, [](float value) { return value != 0; })));
  // By decay only: all have one value, below the initial one.
  CHECK(on_all(std::all_of(x.begin() + 80, x.begin() + 128, [&](float value) { return value == x[80]; })));
  CHECK(on_all(x[80] < 0.5f));
}

TEST_CASE("1-bit SGD moves masked elements by decay only, before and after the freeze") {
  ParameterLayout layout;  // rows from the sixth on, and two elements elsewhere, have no gradient
  layout.add({.name = "rows", .shape = {8, 16}, .active = 80});
  layout.add({.name = "bias", .shape = {40}, .decays = false, .active = 40, .masked = {3, 17}});
  layout.add({.name = "kernel", .shape = {70}, .active = 70, .masked = {0, 69}});
  auto config = onebit(Method::onebit_sgd, 3);
  config.weight_decay = 0.5;
  config.clip = 0.1;  // scales gradients, not the decay
  auto const masked = [&](std::size_t k) {
    return (k >= 80 && k < 128) || k == 128 + 3 || k == 128 + 17 || k == 168 || k == 168 + 69;
  };
  std::vector<float> start(static_cast<std::size_t>(layout.count()));
  for (std::size_t k = 0; k < start.size(); ++k) start[k] = 0.5f + 0.25f * std::sin(static_cast<float>(k));
  auto const gradient = [&](int t) {
    std::vector<float> g(start.size());
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = masked(k) ? 0 : 0.1f * std::sin(0.3f * static_cast<float>(k + 1) + static_cast<float>(t + group().rank()));
    return g;
  };
  Training whole(layout, config, group()), resumed(layout, config, group());
  upload(whole.parameters, start);
  std::vector<double> x(start.begin(), start.end()), m(start.size(), 0.0);
  constexpr double rate = 0.1;
  for (int t = 1; t <= 9; ++t) {
    whole.step(t, gradient(t), rate);
    if (t == 5) resumed.restore(whole.state(), download(whole.parameters));  // determines the active elements again
    if (t > 5) resumed.step(t, gradient(t), rate);
    auto const parameters = download(whole.parameters), momentum = whole.state().arrays.at("momentum");
    double off = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (!masked(k)) continue;
      bool const decays = k < 128 || k >= 168;
      m[k] = config.beta1 * m[k] + (decays ? config.weight_decay * x[k] : 0);
      x[k] -= rate * m[k];
      off = larger(larger(off, parameters[k] - x[k]), momentum[k] - m[k]);
    }
    CAPTURE(t, off);
    CHECK(on_all(off < 1e-6));
    CHECK(on_all((whole.optimizer->last_report().phase == optim::Phase::compressed) == (t > 3)));
  }
  CHECK(on_all(m[80] > 0.1 && x[128 + 3] == start[128 + 3]));
  CHECK(on_all(same_bits(download(whole.parameters), download(resumed.parameters))));
  CHECK(on_all(same_bits(whole.state(), resumed.state())));
}
