// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether::input {

constexpr double hidden_share = 0.8;     ///< of the predicted tokens become [MASK]
constexpr double kept_of_visible = 0.5;  ///< of the other predicted tokens stay; the rest become random ids

/// BERT's masking (Devlin et al., arXiv 1810.04805, section 3.1, and create_pretraining_data.py).
struct MaskingRule {
  double probability = 0.15;
  std::int64_t maximum = 20;        ///< maximum predictions per sequence
  std::int64_t vocabulary = 30522;  ///< random replacements come from the whole vocabulary, including special tokens
  SpecialIds special;
};

/// Returns the number of predictions of a sequence of `length` tokens, of which `candidates` are neither [CLS] nor
/// [SEP]: min(maximum, max(1, round(probability * length)), candidates). Halves round to even, as in Python's round().
std::int64_t prediction_count(MaskingRule const& rule, std::int64_t length, std::int64_t candidates);
std::int64_t candidate_count(MaskingRule const& rule, std::span<std::int32_t const> token_ids);

struct Masks {
  std::vector<std::int32_t> positions;  ///< (predictions) ascending
  std::vector<std::int32_t> ids;        ///< (predictions) original token ids
};

/// Masks `token_ids` in place: of the predicted tokens 80 % become [MASK], 10 % stay, 10 % become random ids. The
/// result depends only on (seed, sample); `sample` is the running sample number g.
Masks draw_masks(MaskingRule const& rule, std::uint64_t seed, std::int64_t sample, std::span<std::int32_t> token_ids);

}  // namespace bellwether::input
