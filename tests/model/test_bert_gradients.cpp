// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert.hpp"
#include "model/initialise.hpp"
#include "tests/support/batches.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <string>

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
        batch(tests::random_batch(config, {11, 3, 7, 1}, 3, 5)) {
    model::initialise(Exec(), bert.layout().table, 3, config.initial_deviation, parameters.data());
    // Biases and layer norms off their special values, so that every term of a gradient shows.
    for (std::size_t k = 0; k < parameters.size(); ++k) parameters(k) += 0.05 * std::sin(1.7 * static_cast<double>(k));
  }

  double loss() {
    Kokkos::View<double*, Mem> ignored("ignored", parameters.size());
    auto const sums = bert.train(parameters.data(), ignored.data(), batch, scale, [](Index, Index) {});
    return scale.mlm * sums.mlm + scale.nsp * sums.nsp;
  }

  model::ModelConfig config;
  model::Bert<double> bert;
  Kokkos::View<double*, Mem> parameters, gradients;
  model::Batch batch;
  model::LossScale scale{.mlm = 0.31, .nsp = 0.77};
};

}  // namespace

TEST_CASE("every tensor's gradient agrees with finite differences, dropout on") {
  auto const activation = GENERATE(model::Activation::gelu_erf, model::Activation::gelu_tanh);
  Problem problem(activation);
  problem.bert.train(problem.parameters.data(), problem.gradients.data(), problem.batch, problem.scale,
                     [](Index, Index) {});
  for (auto const& tensor : problem.bert.layout().table.tensors()) {
    INFO(tensor.name);
    Index const stride = std::max<Index>(1, tensor.count / 7);
    for (Index k = 0; k < tensor.count; k += stride) {
      double& value = problem.parameters(tensor.offset + k);
      double const start = value, step = 1e-4;
      double slope = 0;
      // Fourth-order central difference: the error of rounding and of truncation both stay below 1e-8.
      for (auto const& [distance, weight] : {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}}) {
        value = start + distance * step;
        slope += weight * problem.loss() / (12 * step);
      }
      value = start;
      CHECK(std::abs(problem.gradients(tensor.offset + k) - slope) <= 1e-6 * std::max(1.0, std::abs(slope)));
    }
  }
}

TEST_CASE("dead elements receive exactly no gradient") {
  Problem problem(model::Activation::gelu_erf);
  problem.bert.train(problem.parameters.data(), problem.gradients.data(), problem.batch, problem.scale,
                     [](Index, Index) {});
  for (auto const& tensor : problem.bert.layout().table.tensors()) {
    INFO(tensor.name);
    Index nonzero = 0;
    for (Index k = tensor.live; k < tensor.count; ++k) nonzero += problem.gradients(tensor.offset + k) != 0;
    CHECK(nonzero == 0);
  }
}

TEST_CASE("gradients are announced once each, in reverse order, and accumulate") {
  Problem problem(model::Activation::gelu_erf);
  Index expected_last = problem.bert.layout().table.count();
  auto const ready = [&](Index first, Index last) {
    CHECK(last == expected_last);
    expected_last = first;
  };
  problem.bert.train(problem.parameters.data(), problem.gradients.data(), problem.batch, problem.scale, ready);
  CHECK(expected_last == 0);
  std::vector<double> const once(problem.gradients.data(), problem.gradients.data() + problem.gradients.size());
  problem.bert.train(problem.parameters.data(), problem.gradients.data(), problem.batch, problem.scale,
                     [](Index, Index) {});
  double largest = 0;
  for (std::size_t k = 0; k < once.size(); ++k)
    largest = std::max(largest, std::abs(problem.gradients(k) - 2 * once[k]));
  CHECK(largest < 1e-12);
}

TEST_CASE("a sequence's loss does not depend on the sequences beside it, with dropout on") {
  auto const config = small_model(model::Activation::gelu_erf);
  model::Bert<double> bert(Exec(), config, {.sequences = 3, .longest = 9, .masked = 3}, 7);
  Kokkos::View<double*, Mem> parameters("parameters", static_cast<std::size_t>(bert.layout().table.count()));
  Kokkos::View<double*, Mem> gradients("gradients", parameters.size());
  model::initialise(Exec(), bert.layout().table, 3, config.initial_deviation, parameters.data());
  auto const whole = tests::random_batch(config, {9, 4, 6}, 3, 2);
  auto const together = bert.train(parameters.data(), gradients.data(), whole, {}, [](Index, Index) {});
  model::Losses apart;
  for (int b = 0; b < 3; ++b) {
    model::Batch one;
    auto const first = whole.sequence_offsets[b], last = whole.sequence_offsets[b + 1];
    one.token_ids.assign(whole.token_ids.begin() + first, whole.token_ids.begin() + last);
    one.segment_ids.assign(whole.segment_ids.begin() + first, whole.segment_ids.begin() + last);
    one.sequence_offsets = {0, last - first};
    for (std::size_t i = 0; i < whole.masked_rows.size(); ++i)
      if (whole.masked_rows[i] >= first && whole.masked_rows[i] < last) {
        one.masked_rows.push_back(whole.masked_rows[i] - first);
        one.masked_labels.push_back(whole.masked_labels[i]);
      }
    one.next_labels = {whole.next_labels[b]};
    one.samples = {whole.samples[b]};
    apart += bert.train(parameters.data(), gradients.data(), one, {}, [](Index, Index) {});
  }
  CHECK(std::abs(together.mlm - apart.mlm) < 1e-10);
  CHECK(std::abs(together.nsp - apart.nsp) < 1e-10);
}
