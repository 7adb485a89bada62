// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"
#include "comm/compression/tensor_errors.hpp"
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <limits>

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

TEST_CASE("shares of error by tensor are reported if wanted, and change nothing") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  int const here = GENERATE(1, 2);
  if (group().size() % here != 0) return;
  comm::CommConfig comm;
  comm.hierarchy = comm::Hierarchy::node;
  comm.ranks_per_node = here;
  auto const nodes = comm::chosen_nodes(world().nodes(), group().rank(), comm);
  comm::NodeGroups const groups(group(), nodes, comm);
  Training plain(layout, onebit(method, 2), group(), comm, &groups);
  Training told(layout, onebit(method, 2), group(), comm, &groups);
  for (auto* const training : {&plain, &told}) training->start();
  auto const layers = [&](std::string_view name) { return told.optimizer->last_report().layer(name); };
  auto const active = static_cast<std::size_t>(layout.index_of("matrix")),
             masked =
                 static_cast<std::size_t>(layout.index_of(method == Method::onebit_sgd ? "empty" : "zero_gradient"));
  for (int t = 1; t <= 6; ++t) {
    run(plain, t, t);
    bool const wanted = t != 4;
    told.step(t, gradient_of(told, t), 0.01, wanted);
    bool const known = wanted && t > 2 && group().size() > here;
    for (auto const* const name : {"worker_error_share", "server_error_share", "sign_agreement"}) {
      CHECK(on_all(std::isfinite(layers(name)[active]) == known));
      CHECK(on_all(std::isnan(layers(name)[masked])));
      CHECK(equal_on_all_ranks(layers(name)));
    }
    // Signs of independent gradients agree with the sign of their mean more often than not.
    if (known) CHECK(on_all(layers("sign_agreement")[active] > 0.5f && layers("sign_agreement")[active] <= 1));
    if (known) CHECK(on_all(layers("worker_error_share")[active] > 0 && layers("worker_error_share")[active] < 2));
    auto const extra = told.optimizer->last_report().sent.scalars - plain.optimizer->last_report().sent.scalars;
    auto const numbers = comm::tensor_error_sums * static_cast<Index>(layout.tensors().size());
    CHECK(on_all(extra == (known ? comm::DenseMean::predicted_bytes(numbers, group().rank(), group().size(),
                                                                    comm::Wire::fp32, comm::Allreduce::ordered)
                                 : 0)));
  }
  CHECK(on_all(download(plain.parameters) == download(told.parameters)));

  // A skipped step changes nothing, whether shares are wanted or not.
  auto const before = told.state();
  auto gradient = told.sample(7, group().rank());
  gradient[3] = std::numeric_limits<float>::infinity();
  upload(told.gradients, gradient);
  told.optimizer->step(told.exec, told.parameters, told.gradients, {.step = 7, .learning_rate = 0.01, .layers = true});
  CHECK(on_all(told.optimizer->last_report().skipped));
  auto after = told.state();
  after.integers["skipped_steps"] = before.integers.at("skipped_steps");
  CHECK(on_all(same_bits(before, after)));
}

TEST_CASE("norms of weights, update and momentum by tensor are reported if wanted, in both phases") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  auto config = onebit(method, 3);
  config.weight_decay = 0.3;
  config.min_coefficient = config.max_coefficient = 1;  // so that every step is rate u
  config.exchange = GENERATE(optim::Exchange::gradient, optim::Exchange::momentum);
  config.unify = GENERATE(optim::Unify::element, optim::Unify::layer);
  Training training(layout, config, group());
  training.start();
  double const rate = 0.05;
  for (int t = 1; t <= 6; ++t) {
    auto const before = download(training.parameters);
    bool const wanted = t != 2 && t != 5;
    training.step(t, training.sample(t, group().rank()), rate, wanted);
    auto const& report = training.optimizer->last_report();
    auto const after = download(training.parameters);
    auto const state = training.state();
    auto const& momentum = state.arrays.at("momentum");
    auto const variance = state.arrays.find("variance");
    bool const derivable = wanted && t > 3 && variance != state.arrays.end();
    bool good = report.phase == (t > 3 ? optim::Phase::compressed : optim::Phase::dense);
    for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
      auto const& tensor = layout.tensors()[l];
      double x = 0, u = 0, m = 0, largest = 0, derived = 0, largest_root = 0;
      double const rho = derivable ? report.layer("root_growth")[l] : 0;
      for (auto k = static_cast<std::size_t>(tensor.offset); k < static_cast<std::size_t>(tensor.offset + tensor.count);
           ++k) {
        double const moved = (static_cast<double>(before[k]) - after[k]) / rate;
        x += static_cast<double>(before[k]) * before[k];
        u += moved * moved;
        m += static_cast<double>(momentum[k]) * momentum[k];
        largest = larger(largest, moved);
        if (!derivable || config.exchange == optim::Exchange::gradient) continue;
        // The momentum in the update, whether it is stored as numbers or bits.
        double const root = rho * std::sqrt(static_cast<double>(variance->second[k])) + config.epsilon;
        derived += std::pow((moved - (tensor.decays ? config.weight_decay * before[k] : 0)) * root, 2);
        largest_root = larger(largest_root, root);
      }
      // The step is known from the parameters, up to their rounding divided by the rate.
      double const rounding = 1e-5 * (1 + std::sqrt(x));
      auto const close = [&](char const* name, double expected, double within) {
        float const value = report.layer(name)[l];
        // LAMB's trust ratio needs both norms at every step.
        std::string_view const what = name;
        bool const always = method == Method::onebit_lamb && (what == "weight_norm" || what == "update_norm");
        bool const right = wanted || always ? std::abs(value - expected) <= within : std::isnan(value);
        if (!right) UNSCOPED_INFO("step " << t << " " << tensor.name << " " << name << " " << value << " " << expected);
        good = good && right;
      };
      close("weight_norm", std::sqrt(x), 1e-6 * (std::sqrt(x) + rate * std::sqrt(u)));
      close("update_norm", std::sqrt(u), rounding + 1e-5 * std::sqrt(u));
      close("momentum_norm", std::sqrt(m), 1e-6 * std::sqrt(m));
      if (largest_root > 0)
        close("momentum_norm", std::sqrt(derived), rounding * largest_root + 1e-5 * std::sqrt(derived));
      close("largest_update", largest, rounding + 1e-5 * largest);
    }
    CHECK(on_all(good));
  }
}

TEST_CASE("norms by rank are known in both phases") {
  auto const layout = active_layout();
  Training training(layout, onebit(Method::onebit_adam, 2), group());
  training.start();
  for (int t = 1; t <= 4; ++t) {
    training.step(t, training.sample(t, group().rank()));
    double local = 0;
    for (int rank = 0; rank < group().size(); ++rank)
      for (float const g : training.sample(t, rank)) local += static_cast<double>(g) * g / group().size();
    auto const& report = training.optimizer->last_report();
    bool const known = t > 2 || group().size() > 1;
    CHECK(on_all(known ? std::abs(report.local_square / local - 1) < 1e-6 : std::isnan(report.local_square)));
    CHECK(on_all(std::abs(report.mean_square / (report.gradient_norm * report.gradient_norm) - 1) < 1e-12));
  }
}

TEST_CASE("the ten steps after a freeze are reported as near it") {
  auto const layout = active_layout();
  Training training(layout, onebit(Method::onebit_sgd, 3), group());
  training.start();
  for (int t = 1; t <= 16; ++t) {
    CHECK(on_all(training.optimizer->near_freeze(t) == (t <= 13)));
    CHECK(on_all(training.optimizer->frozen_after().value_or(-1) == (t > 4 ? 3 : -1)));
    run(training, t, t);
  }
}
