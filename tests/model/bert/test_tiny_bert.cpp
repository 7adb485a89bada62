// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/bert.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/shared_data.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <fstream>

using namespace bellwether;
using nlohmann::json;

namespace {

model::ModelConfig config_of(json const& c) {
  return {.vocabulary = c.at("vocab_size"),
          .hidden = c.at("hidden_size"),
          .layers = c.at("num_hidden_layers"),
          .heads = c.at("num_attention_heads"),
          .feed_forward = c.at("intermediate_size"),
          .positions = c.at("max_position_embeddings"),
          .segments = c.at("type_vocab_size"),
          .hidden_dropout = 0,
          .attention_dropout = 0,
          .layer_norm_epsilon = c.at("layer_norm_eps")};
}

/// Returns the reference's padded batch without its padding.
model::Batch batch_of(json const& reference) {
  model::Batch batch;
  batch.sequence_offsets = {0};
  auto const& mask = reference.at("attention_mask");
  for (std::size_t b = 0; b < mask.size(); ++b) {
    for (std::size_t i = 0; i < mask[b].size(); ++i) {
      if (mask[b][i] == 0) continue;
      batch.token_ids.push_back(reference.at("input_ids")[b][i]);
      batch.segment_ids.push_back(reference.at("token_type_ids")[b][i]);
    }
    batch.sequence_offsets.push_back(static_cast<std::int32_t>(batch.token_ids.size()));
    batch.next_labels.push_back(0);
    batch.samples.push_back(static_cast<std::int64_t>(b));
  }
  return batch;
}

/// Returns the largest difference between ours, (T, C), and the rows of `wanted`, (B, S, C), that are not padding.
template <class Real>
double largest_difference(std::vector<Real> const& computed, json const& wanted, json const& mask) {
  double largest = 0;
  auto ours = computed.begin();
  for (std::size_t b = 0; b < mask.size(); ++b)
    for (std::size_t i = 0; i < mask[b].size(); ++i) {
      if (mask[b][i] == 0) continue;
      for (auto const& value : wanted[b][i])
        largest = test::larger(largest, static_cast<double>(*ours++) - value.get<double>());
    }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("a pretrained encoder from a safetensors file reproduces its reference", "", float, double) {
  auto const folder = test::shared_data() / "tiny-bert";
  if (!std::filesystem::exists(folder / "model.safetensors"))
    SKIP(folder.string() << " is not there; BELLWETHER_DATA names the folder that holds tiny-bert");
  auto const config = config_of(json::parse(std::ifstream(folder / "config.json")));
  auto const reference = json::parse(std::ifstream(folder / "reference_forward.json"));
  test::SafeTensors const weights(folder / "model.safetensors");
  auto const batch = batch_of(reference);
  REQUIRE(batch.sequences() == 3);
  REQUIRE(batch.tokens() < 3 * 12);  // some padding was removed

  model::Bert<TestType> bert(Exec(), config, {.sequences = 3, .longest = 12, .masked = 0}, 1);
  auto const& table = bert.layout().table;
  Kokkos::View<TestType*, Mem> parameters("parameters", static_cast<std::size_t>(table.count()));
  auto const host = Kokkos::create_mirror_view(parameters);
  Index read = 0;
  for (auto const& tensor : table.tensors()) {
    // The file has another head than ours. Its tensors stay zero and do not affect the hidden states.
    bool const encoder = tensor.offset < bert.layout().heads_first;
    INFO(tensor.name);
    REQUIRE(weights.contains(tensor.name) == encoder);
    if (!encoder) continue;
    CHECK(weights.shape(tensor.name) == std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
    auto const values = weights.floats(tensor.name);
    REQUIRE(static_cast<Index>(values.size()) == tensor.count);
    std::copy(values.begin(), values.end(), host.data() + tensor.offset);
    ++read;
  }
  CHECK(read == 5 + 16 * config.layers);

  Kokkos::deep_copy(parameters, host);
  bert.set_parameters(parameters.data());
  bert.evaluate(batch);
  auto const& mask = reference.at("attention_mask");
  // The reference is in double, so double must agree to nearly all digits.
  double const tolerance = std::is_same_v<TestType, float> ? 2e-6 : 1e-12;
  auto const embedding = largest_difference(bert.hidden_states(0), reference.at("embedding_output"), mask);
  auto const last = largest_difference(bert.hidden_states(config.layers), reference.at("last_hidden_state"), mask);
  CAPTURE(embedding, last);
  CHECK(embedding <= tolerance);
  CHECK(last <= tolerance);
}
