// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

#include <cstdint>
#include <string>

namespace bellwether::input {

/// What shards record of the vocabulary that their ids are of.
struct VocabularyRecord {
  std::int64_t tokens = 0;  ///< V; 0: not recorded
  SpecialIds special{};     ///< where V is recorded
  std::string checksum{};   ///< vocabulary_checksum(); empty: not recorded

  static VocabularyRecord of(ShardFormat const& format) {
    return {format.vocabulary, format.special, format.vocabulary_checksum};
  }
};

/// Says how `found` is of another vocabulary than `expected`, which is `whose`: by size, special ids, or checksum of
/// the tokens. Empty where none of these differs, or where one of the two does not record it.
std::string other_vocabulary(VocabularyRecord const& found, VocabularyRecord const& expected, std::string const& whose);

}  // namespace bellwether::input
