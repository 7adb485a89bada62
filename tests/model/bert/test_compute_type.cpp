// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/bert.hpp"
#include "model/bert/initialise.hpp"
#include "tests/support/batches.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

using namespace bellwether;

namespace {

struct Result {
  double loss;
  std::vector<double> gradients;
};

model::ModelConfig config_of(ComputeType compute) {
  return {.vocabulary = 211,
          .hidden = 48,
          .layers = 2,
          .heads = 3,
          .feed_forward = 96,
          .positions = 24,
          .initial_deviation = 0.1,
          .compute = compute};
}

Result trained(ComputeType compute) {
  auto const config = config_of(compute);
  auto const batch = tests::random_batch(config, {24, 17, 3, 20, 11}, 4, 9);
  model::Bert<float> bert(Exec(), config, {.sequences = 5, .longest = 24, .masked = 4}, 7);
  Kokkos::View<float*, Mem> const parameters("parameters", static_cast<std::size_t>(bert.layout().table.count())),
      gradients("gradients", parameters.size());
  model::initialise(Exec(), bert.layout().table, 3, config.initial_deviation, parameters.data());
  bert.set_parameters(parameters.data());
  bert.train(gradients.data(), batch, {}, [](Index, Index) {});
  auto const losses = bert.take_losses();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradients);
  return {losses.mlm + losses.nsp, {host.data(), host.data() + host.size()}};
}

}  // namespace

// bf16 operands have a relative error of up to 2^-9. Gradients accumulate a few times that over the layers.
TEST_CASE("bf16 products yield a loss and gradients close to those of fp32, but not equal") {
  auto const exact = trained(ComputeType::fp32), rounded = trained(ComputeType::bf16);
  CHECK(std::abs(rounded.loss - exact.loss) < 2e-3 * exact.loss);
  auto const layout = model::bert_layout(config_of(ComputeType::fp32), 24);
  for (auto const& tensor : layout.table.tensors()) {
    CAPTURE(tensor.name);
    double difference = 0, magnitude = 0;
    for (Index k = tensor.offset; k < tensor.offset + tensor.count; ++k) {
      difference += std::pow(rounded.gradients[k] - exact.gradients[k], 2);
      magnitude += std::pow(exact.gradients[k], 2);
    }
    CHECK(difference <= 0.03 * 0.03 * magnitude);
    CHECK((magnitude == 0 || difference > 0));
  }
}

TEST_CASE("bf16 products are reproducible bit for bit") {
  CHECK(trained(ComputeType::bf16).gradients == trained(ComputeType::bf16).gradients);
}

// 1-bit LAMB's state with step_ahead takes 23.4 bytes a parameter, in addition to parameters and gradients. With 336
// million parameters, that and these activations fit into 20 GB.
TEST_CASE("BERT-large on 64 sequences of 128 needs less than 8 GB of activations in bf16, half of fp32") {
  struct Enough {};
  std::int64_t bytes = 0;
  auto const planned = [&](ComputeType compute) {
    model::ModelConfig const large{
        .hidden = 1024, .layers = 24, .heads = 16, .feed_forward = 4096, .positions = 128, .compute = compute};
    CHECK_THROWS_AS(model::Bert<float>(Exec(), large, {.sequences = 64, .longest = 128, .masked = 20}, 7,
                                       [&](Index, std::int64_t workspace) {
                                         bytes = workspace;
                                         throw Enough();
                                       }),
                    Enough);
    return static_cast<double>(bytes);
  };
  double const half = planned(ComputeType::bf16), whole = planned(ComputeType::fp32);
  CAPTURE(half, whole);
  CHECK(half < 8e9);
  CHECK(half < (on_devices ? 0.57 : 0.56) * whole);  // devices have longer strips of logits, in both types
}
