// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "model/model_config.hpp"

#include <vector>

namespace bellwether::model {

/// Offsets into the arena of the weight and bias of a linear layer, or of gamma and beta of a layer norm.
struct Affine {
  std::int64_t weight, bias;
};

struct BlockOffsets {
  std::int64_t qkv_weight;  ///< (3C, C): query, key and value, adjacent
  std::int64_t qkv_bias;    ///< (3C)
  Affine attention_output, attention_norm, intermediate, output, output_norm;
  std::int64_t first, last;  ///< index range of the block's tensors
};

/// BERT's tensors under the names of Hugging Face's BertForPreTraining. The decoder is tied to the word embeddings. The
/// matrices of a block come before its vectors, and the two biases of odd size at the end, so that rows of matrices
/// stay aligned.
struct BertLayout {
  ParameterLayout table;
  std::int64_t word, position, segment;
  Affine embedding_norm;
  std::vector<BlockOffsets> blocks;
  Affine pooler, transform, transform_norm;
  std::int64_t next_weight, decoder_bias, next_bias;
  std::int64_t heads_first;  ///< arena offset of the heads' tensors, which come last
};

/// Builds the layout. Masked elements: rows of the position embedding from `sequence_length` on, segment rows beyond
/// the two in use, and key biases (softmax makes their gradient exactly zero).
BertLayout bert_layout(ModelConfig const& config, std::int64_t sequence_length);

}  // namespace bellwether::model
