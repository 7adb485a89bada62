// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/vocabulary_record.hpp"

namespace bellwether::input {
namespace {

constexpr auto allowed = "; allowed: shards of one vocabulary";

std::string listed(SpecialIds const& special) {
  return std::to_string(special.classify) + ", " + std::to_string(special.separate) + ", " +
         std::to_string(special.mask);
}

}  // namespace

std::string other_vocabulary(VocabularyRecord const& found, VocabularyRecord const& expected,
                             std::string const& whose) {
  if (found.tokens != 0 && expected.tokens != 0) {
    if (found.tokens != expected.tokens)
      return "made with a vocabulary of " + std::to_string(found.tokens) + ", " + whose + " with one of " +
             std::to_string(expected.tokens) + allowed;
    if (found.special != expected.special)
      return "made with [CLS], [SEP], [MASK] = " + listed(found.special) + ", " + whose + " with " +
             listed(expected.special) + allowed;
  }
  if (!found.checksum.empty() && !expected.checksum.empty() && found.checksum != expected.checksum)
    return "made with a vocabulary of checksum " + found.checksum + ", " + whose + " with one of checksum " +
           expected.checksum + ": the same ids are other tokens" + allowed;
  return "";
}

}  // namespace bellwether::input
