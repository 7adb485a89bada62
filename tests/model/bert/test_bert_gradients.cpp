// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/bert.hpp"
#include "model/bert/initialise.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace bellwether;

namespace {

model::ModelConfig small_model(model::Activation activation) {
  return {.vocabulary = 37,
          .hidden = 12,
          .layers = 2,
          .heads = 3,
          .feed_forward = 20,
          .positions = 16,
          .segments = 3,
          .activation = activation,
          .hidden_dropout = 0.1,
          .attention_dropout = 0.2,
          .layer_norm_epsilon = 1e-6,
          .initial_deviation = 0.3};
}

struct Problem {
  explicit Problem(model::Activation activation)
      : config(small_model(activation)),
        bert(Exec(), config, {.sequences = 4, .longest = 11, .masked = 3}, 7),
        parameters("parameters", static_cast<std::size_t>(bert.layout().table.count())),
        gradients("gradients", parameters.size()),
        values(Kokkos::create_mirror(parameters)),
        batch(tests::random_batch(config, {11, 3, 7, 1}, 3, 5)) {
    model::initialise(Exec(), bert.layout().table, 3, config.initial_deviation, parameters.data());
    // Move biases and layer norms away from their special values, so that every term of a gradient matters.
    Kokkos::deep_copy(values, parameters);
    for (std::size_t k = 0; k < values.size(); ++k) values(k) += 0.05 * std::sin(1.7 * static_cast<double>(k));
    Kokkos::deep_copy(parameters, values);
  }

  /// Runs another backward pass, which adds to the gradient, and returns it on the host.
  std::vector<double> train(std::function<void(Index, Index)> const& ready = [](Index, Index) {}) {
    bert.set_parameters(parameters.data());
    bert.train(gradients.data(), batch, scale, ready);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradients);
    return {host.data(), host.data() + host.size()};
  }

  /// Returns the loss with parameter k set to `value`.
  double loss_at(Index k, double value) {
    auto const one = Kokkos::subview(parameters, std::pair(k, k + 1));
    Kokkos::deep_copy(one, value);
    double const result = loss();
    Kokkos::deep_copy(one, values(static_cast<std::size_t>(k)));
    return result;
  }

  double loss() {
    Kokkos::View<double*, Mem> ignored("ignored", parameters.size());
    bert.take_losses();
    bert.set_parameters(parameters.data());
    bert.train(ignored.data(), batch, scale, [](Index, Index) {});
    auto const sums = bert.take_losses();
    return scale.mlm * sums.mlm + scale.nsp * sums.nsp;
  }

  model::ModelConfig config;
  model::Bert<double> bert;
  Kokkos::View<double*, Mem> parameters, gradients;
  Kokkos::View<double*, Mem>::HostMirror values;  ///< of the parameters
  model::Batch batch;
  model::LossScale scale{.mlm = 0.31, .nsp = 0.77};
};

}  // namespace

TEST_CASE("every tensor's gradient agrees with finite differences, with dropout") {
  auto const activation = GENERATE(model::Activation::gelu_erf, model::Activation::gelu_tanh);
  Problem problem(activation);
  auto const gradient = problem.train();
  for (auto const& tensor : problem.bert.layout().table.tensors()) {
    INFO(tensor.name);
    Index const stride = std::max<Index>(1, tensor.count / 7);
    for (Index k = 0; k < tensor.count; k += stride) {
      Index const at = tensor.offset + k;
      double const start = problem.values(static_cast<std::size_t>(at)), step = 1e-4;
      double slope = 0;
      // Fourth-order central difference: rounding and truncation errors both stay below 1e-8.
      for (auto const& [distance, weight] : {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}})
        slope += weight * problem.loss_at(at, start + distance * step) / (12 * step);
      CHECK(std::abs(gradient[static_cast<std::size_t>(at)] - slope) <= 1e-6 * std::max(1.0, std::abs(slope)));
    }
  }
}

TEST_CASE("masked elements have a gradient of exactly zero") {
  Problem problem(model::Activation::gelu_erf);
  auto const gradient = problem.train();
  for (auto const& tensor : problem.bert.layout().table.tensors()) {
    INFO(tensor.name);
    Index nonzero = 0;
    for (Index k = tensor.active; k < tensor.count; ++k)
      nonzero += gradient[static_cast<std::size_t>(tensor.offset + k)] != 0;
    CHECK(nonzero == 0);
  }
}

TEST_CASE("gradients are announced once each, in reverse order, and add to earlier ones") {
  Problem problem(model::Activation::gelu_erf);
  Index expected_last = problem.bert.layout().table.count();
  auto const once = problem.train([&](Index first, Index last) {
    CHECK(last == expected_last);
    expected_last = first;
  });
  CHECK(expected_last == 0);
  auto const twice = problem.train();
  double largest = 0;
  for (std::size_t k = 0; k < once.size(); ++k) largest = test::larger(largest, twice[k] - 2 * once[k]);
  CHECK(largest < 1e-12);
}
