// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layout/bert_layout.hpp"

#include <algorithm>

namespace bellwether::model {
namespace {

class Builder {
 public:
  explicit Builder(ParameterLayout& table) : table_(table) {}

  std::int64_t matrix(std::string const& name, std::int64_t rows, std::int64_t columns) {
    return embedding(name, rows, columns, rows);
  }
  std::int64_t embedding(std::string const& name, std::int64_t rows, std::int64_t columns, std::int64_t live_rows) {
    return table_
        .add({.name = name,
              .shape = {rows, columns},
              .active = std::min(rows, live_rows) * columns,
              .initialisation = Initialisation::normal})
        .offset;
  }
  std::int64_t vector(std::string const& name, std::int64_t size, Initialisation initialisation, bool active = true) {
    return table_
        .add({.name = name,
              .shape = {size},
              .decays = false,
              .active = active ? size : 0,
              .initialisation = initialisation})
        .offset;
  }
  Affine linear(std::string const& name, std::int64_t out, std::int64_t in) {
    auto const weight = matrix(name + ".weight", out, in);
    return {weight, vector(name + ".bias", out, Initialisation::zero)};
  }
  Affine norm(std::string const& name, std::int64_t size) {
    auto const gamma = vector(name + ".weight", size, Initialisation::one);
    return {gamma, vector(name + ".bias", size, Initialisation::zero)};
  }

 private:
  ParameterLayout& table_;
};

BlockOffsets add_block(Builder& build, ParameterLayout const& table, ModelConfig const& config,
                       std::string const& name) {
  std::int64_t const C = config.hidden, F = config.feed_forward;
  BlockOffsets block{};
  block.first = table.count();
  block.qkv_weight = build.matrix(name + "attention.self.query.weight", C, C);
  build.matrix(name + "attention.self.key.weight", C, C);
  build.matrix(name + "attention.self.value.weight", C, C);
  block.qkv_bias = build.vector(name + "attention.self.query.bias", C, Initialisation::zero);
  build.vector(name + "attention.self.key.bias", C, Initialisation::zero, false);
  build.vector(name + "attention.self.value.bias", C, Initialisation::zero);
  block.attention_output = build.linear(name + "attention.output.dense", C, C);
  block.attention_norm = build.norm(name + "attention.output.LayerNorm", C);
  block.intermediate = build.linear(name + "intermediate.dense", F, C);
  block.output = build.linear(name + "output.dense", C, F);
  block.output_norm = build.norm(name + "output.LayerNorm", C);
  block.last = table.count();
  return block;
}

}  // namespace

BertLayout bert_layout(ModelConfig const& config, std::int64_t sequence_length) {
  constexpr std::int64_t segments_in_use = 2;
  BertLayout layout{};
  Builder build(layout.table);
  std::int64_t const C = config.hidden;
  layout.word = build.matrix("bert.embeddings.word_embeddings.weight", config.vocabulary, C);
  layout.position = build.embedding("bert.embeddings.position_embeddings.weight", config.positions, C, sequence_length);
  layout.segment = build.embedding("bert.embeddings.token_type_embeddings.weight", config.segments, C, segments_in_use);
  layout.embedding_norm = build.norm("bert.embeddings.LayerNorm", C);
  for (std::int64_t i = 0; i < config.layers; ++i)
    layout.blocks.push_back(add_block(build, layout.table, config, "bert.encoder.layer." + std::to_string(i) + "."));
  layout.heads_first = layout.table.count();
  layout.pooler = build.linear("bert.pooler.dense", C, C);
  layout.transform = build.linear("cls.predictions.transform.dense", C, C);
  layout.transform_norm = build.norm("cls.predictions.transform.LayerNorm", C);
  layout.next_weight = build.matrix("cls.seq_relationship.weight", 2, C);
  layout.decoder_bias = build.vector("cls.predictions.bias", config.vocabulary, Initialisation::zero);
  layout.next_bias = build.vector("cls.seq_relationship.bias", 2, Initialisation::zero);
  return layout;
}

}  // namespace bellwether::model
