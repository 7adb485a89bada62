// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/lost_text.hpp"

#include "input/shards/shares.hpp"

namespace bellwether::input {
namespace {

constexpr double most_rare = 0.01;

}  // namespace

bool loses_rare_characters(CorpusFacts const& facts) { return share(facts.rare, facts.characters) > most_rare; }

std::vector<std::string> lost_text_warnings(CorpusFacts const& facts) {
  std::vector<std::string> texts;
  if (loses_rare_characters(facts))
    texts.push_back(percent(share(facts.rare, facts.characters)) +
                    " of the characters of the text are in words that become [UNK], because the vocabulary keeps the " +
                    std::to_string(facts.alphabet) + " most frequent of " + std::to_string(facts.distinct) +
                    " characters; train it with a larger --alphabet, or remove text of other alphabets");
  return texts;
}

}  // namespace bellwether::input
