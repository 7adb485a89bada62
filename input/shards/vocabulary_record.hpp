// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

#include <cstdint>
#include <string>

namespace bellwether::input {

/// What shards record of the vocabulary of their ids.
struct VocabularyRecord {
  std::int64_t tokens = 0;  ///< V; 0: not recorded
  SpecialIds special{};     ///< valid if V is recorded
  std::string checksum{};   ///< vocabulary_checksum(); empty: not recorded

  static VocabularyRecord of(ShardFormat const& format) {
    return {format.vocabulary, format.special, format.vocabulary_checksum};
  }
};

/// Compares two vocabularies by size, special ids and checksum of the tokens. Returns how `found` differs from
/// `expected`, the vocabulary of `whose`. Returns an empty text if nothing differs, or if one of the two does not
/// record it.
std::string other_vocabulary(VocabularyRecord const& found, VocabularyRecord const& expected, std::string const& whose);

}  // namespace bellwether::input
