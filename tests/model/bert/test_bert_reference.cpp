// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/bert.hpp"
#include "tests/support/golden.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

using namespace bellwether;
using nlohmann::json;

namespace {

/// Results of Hugging Face's BertForPreTraining in double, see tests/golden/bert_reference.py.
struct Reference {
  Reference() {
    std::ifstream(test::golden_file("bert_reference.json")) >> description;
    std::ifstream file(test::golden_file("bert_reference.f32"), std::ios::binary);
    std::string const bytes((std::istreambuf_iterator<char>(file)), {});
    values.resize(bytes.size() / sizeof(float));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  }
  std::span<float const> array(json const& place) const {
    return std::span(values).subspan(place[0].get<std::size_t>(), place[1].get<std::size_t>());
  }
  json description;
  std::vector<float> values;
};

std::uint32_t name_hash(std::string const& name) {
  std::uint32_t hash = 0x811C9DC5u;
  for (unsigned char const byte : name) hash = (hash ^ byte) * 0x01000193u;
  return hash;
}

std::uint32_t mixed(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}

float reference_weight(std::string const& name, Index k) {
  auto const h = mixed(name_hash(name) + 0x9E3779B9u * static_cast<std::uint32_t>(k));
  float const w = 0.125f * (2 * static_cast<float>(h >> 8) / 16777216.0f - 1);
  return name.ends_with("LayerNorm.weight") ? 1 + w : w;
}

model::ModelConfig config_of(json const& c) {
  return {.vocabulary = c["vocabulary"],
          .hidden = c["hidden"],
          .layers = c["layers"],
          .heads = c["heads"],
          .feed_forward = c["feed_forward"],
          .positions = c["positions"],
          .segments = c["segments"],
          .activation = c["activation"] == "gelu_erf" ? model::Activation::gelu_erf : model::Activation::gelu_tanh,
          .hidden_dropout = 0,
          .attention_dropout = 0};
}

model::Batch batch_of(json const& b) {
  model::Batch batch{.token_ids = b["token_ids"],
                     .segment_ids = b["segment_ids"],
                     .sequence_offsets = b["sequence_offsets"],
                     .masked_rows = b["masked_rows"],
                     .masked_labels = b["masked_labels"],
                     .next_labels = b["next_labels"],
                     .samples = {}};
  for (std::int64_t i = 0; i < batch.sequences(); ++i) batch.samples.push_back(i);
  return batch;
}

double norm(std::span<float const> values) {
  double sum = 0;
  for (double const value : values) sum += value * value;
  return std::sqrt(sum);
}

/// at: in the memory of the execution space.
double distance(float const* at, std::span<float const> reference) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::vector<float> ours(reference.size());
  Kokkos::deep_copy(Kokkos::View<float*, Kokkos::HostSpace, Unmanaged>(ours.data(), ours.size()),
                    Kokkos::View<float const*, Mem, Unmanaged>(at, ours.size()));
  double sum = 0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    double const difference = static_cast<double>(ours[k]) - static_cast<double>(reference[k]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

}  // namespace

// The reference ran on the padded batch (B, S) with an attention mask. Ours has T rows without padding.
TEST_CASE("BERT in fp32 agrees with padded Hugging Face in activations, losses and gradients") {
  Reference const reference;
  REQUIRE(!reference.description["cases"].empty());
  for (auto const& wanted : reference.description["cases"]) {
    INFO("case " << wanted["name"].get<std::string>());
    auto const config = config_of(wanted["config"]);
    auto const batch = batch_of(wanted["batch"]);
    model::Bert<float> bert(Exec(), config, {.sequences = 5, .longest = config.positions, .masked = config.positions},
                            1);
    auto const& table = bert.layout().table;
    Kokkos::View<float*, Mem> parameters("parameters", static_cast<std::size_t>(table.count()));
    Kokkos::View<float*, Mem> gradients("gradients", parameters.size());
    auto const weights = Kokkos::create_mirror_view(parameters);
    for (auto const& tensor : table.tensors())
      for (Index k = 0; k < tensor.count; ++k)
        weights(static_cast<std::size_t>(tensor.offset + k)) = reference_weight(tensor.name, k);
    Kokkos::deep_copy(parameters, weights);
    model::LossScale const scale{.mlm = 1.0 / static_cast<double>(batch.masked()),
                                 .nsp = 1.0 / static_cast<double>(batch.sequences())};
    bert.set_parameters(parameters.data());
    bert.train(gradients.data(), batch, scale, [](Index, Index) {});
    auto const losses = bert.take_losses();

    CHECK(std::abs(losses.mlm * scale.mlm - wanted["loss"]["mlm"].get<double>()) < 2e-6);
    CHECK(std::abs(losses.nsp * scale.nsp - wanted["loss"]["nsp"].get<double>()) < 2e-6);
    auto const& hidden = wanted["hidden"];
    REQUIRE(static_cast<Index>(hidden.size()) == config.layers + 1);
    for (Index i = 0; i <= config.layers; ++i) {
      INFO("hidden state " << i);
      auto const expected = reference.array(hidden[static_cast<std::size_t>(i)]["values"]);
      CHECK(distance(bert.hidden_states(i).data(), expected) <= 2e-6 * norm(expected));
    }

    auto const& expected = wanted["gradients"];
    CHECK(expected.size() == table.tensors().size());
    double largest = 0;
    for (auto const& gradient : expected) largest = std::max(largest, gradient["norm"].get<double>());
    for (auto const& tensor : table.tensors()) {
      INFO(tensor.name);
      REQUIRE(expected.contains(tensor.name));
      auto const values = reference.array(expected[tensor.name]["values"]);
      REQUIRE(static_cast<Index>(values.size()) == tensor.count);
      CHECK(distance(gradients.data() + tensor.offset, values) <= 1e-5 * std::max(norm(values), 1e-4 * largest));
    }
  }
}
