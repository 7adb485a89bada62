// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/lost_text.hpp"

#include "input/shards/shares.hpp"

namespace bellwether::input {
namespace {

constexpr double most_rare = 0.01, most_left_out = 0.01, most_letterless = 0.5;
// BERT-uncased leaves out the accents of all languages. In most of them few words become equal; above this share, as in
// Vietnamese, many do.
constexpr double most_accents = 0.1;

/// Returns the share of characters that are left out in the letters and these characters.
double left_out(std::int64_t characters, CorpusFacts const& facts) {
  return share(characters, facts.letters + characters);
}

}  // namespace

bool loses_rare_characters(CorpusFacts const& facts) { return share(facts.rare, facts.characters) > most_rare; }

std::vector<std::string> lost_text_warnings(CorpusFacts const& facts) {
  std::vector<std::string> texts;
  if (loses_rare_characters(facts))
    texts.push_back(percent(share(facts.rare, facts.characters)) +
                    " of the characters of the text are in words that become [UNK], because the vocabulary keeps the " +
                    std::to_string(facts.alphabet) + " most frequent of " + std::to_string(facts.distinct) +
                    " characters; train it with a larger --alphabet, or remove text of other alphabets");
  auto const warn = [&](std::int64_t characters, double most, std::string const& what) {
    if (left_out(characters, facts) > most) texts.push_back(percent(left_out(characters, facts)) + what);
  };
  std::string const keep = "; to keep them, make the shards with another program, in the layout of docs/user/data.md";
  warn(facts.signs, most_left_out,
       " of the letters and marks are vowel signs or other marks, which are left out, as BERT-uncased does: words of "
       "Hindi, Thai, Arabic or Japanese become ambiguous" +
           keep);
  warn(facts.accents, most_accents,
       " of the letters and accents are accents, which are left out, as BERT-uncased does: words that differ only in "
       "them become the same" +
           keep);
  warn(facts.unreadable, most_left_out,
       " of the characters are unreadable (private use, or U+FFFD) and left out: a wrong encoding, or a PDF with its "
       "own "
       "fonts; extract or decode the original again");
  warn(facts.separators, most_left_out,
       " of the characters are zero-width spaces or non-joiners (U+200B, U+200C) and left out: words are joined, as in "
       "Khmer or Persian; replace U+200B by a space");
  if (auto const letterless = share(facts.letterless, facts.tokens); letterless > most_letterless)
    texts.push_back(percent(letterless) +
                    " of the tokens are numbers, punctuation or symbols: the text is mostly tables, logs or code, from "
                    "which the model learns little language; leave such files out");
  return texts;
}

}  // namespace bellwether::input
