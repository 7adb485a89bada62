// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/text/vocabulary_trainer.hpp"
#include "input/text/wordpiece.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace bellwether;
using namespace bellwether::input;

namespace {

std::string glue(std::string const& left, std::string const& right) { return left + right.substr(2); }

/// A reference that counts all pairs again before each merge.
std::vector<std::string> train_slowly(std::map<std::string, std::int64_t> const& counts,
                                      std::vector<std::string> tokens, std::size_t size) {
  std::vector<std::pair<std::vector<std::string>, std::int64_t>> words;
  for (auto const& [word, count] : counts) {
    std::vector<std::string> pieces;
    for (char const c : word) pieces.push_back((pieces.empty() ? "" : "##") + std::string(1, c));
    words.emplace_back(pieces, count);
  }
  auto const id = [&](std::string const& token) {
    return std::find(tokens.begin(), tokens.end(), token) - tokens.begin();
  };
  while (tokens.size() < size) {
    std::map<std::pair<std::ptrdiff_t, std::ptrdiff_t>, std::int64_t> pairs;
    for (auto const& [pieces, count] : words)
      for (std::size_t i = 1; i < pieces.size(); ++i) pairs[{id(pieces[i - 1]), id(pieces[i])}] += count;
    auto best = pairs.end();
    for (auto it = pairs.begin(); it != pairs.end(); ++it)
      if (best == pairs.end() || it->second > best->second) best = it;
    if (best == pairs.end() || best->second < 2) break;
    auto const left = tokens[static_cast<std::size_t>(best->first.first)];
    auto const right = tokens[static_cast<std::size_t>(best->first.second)];
    auto const merged = glue(left, right);
    if (static_cast<std::size_t>(id(merged)) == tokens.size()) tokens.push_back(merged);
    for (auto& [pieces, count] : words)
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
        if (pieces[i] == left && pieces[i + 1] == right) {
          pieces[i] = merged;
          pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
  }
  return tokens;
}

std::map<std::string, std::int64_t> const words = {
    {"low", 5},    {"lower", 2},  {"newest", 6},  {"widest", 3},  {"aaaa", 7},       {"aaaaa", 4},
    {"banana", 9}, {"ban", 3},    {"bananas", 2}, {"anas", 4},    {"nananan", 5},    {"est", 1},
    {"wide", 2},   {"lowest", 8}, {"ababab", 3},  {"abababa", 5}, {"mississippi", 4}};

}  // namespace

TEST_CASE("training merges the same pairs as a full recount", "[vocabulary]") {
  WordCounts const counts(words.begin(), words.end());
  auto const first = train_vocabulary(counts, {.size = 35}).tokens;
  auto const alphabet = train_vocabulary(counts, {.size = 1 << 20, .least_frequency = 1 << 20}).tokens;
  for (std::size_t const size : {40u, 50u, 60u, 1000u})
    CHECK(train_vocabulary(counts, {.size = static_cast<std::int64_t>(size)}).tokens ==
          train_slowly(words, alphabet, size));
  CHECK(first.size() == 35);
}

TEST_CASE("training can be stopped at any time", "[vocabulary]") {
  WordCounts counts;
  for (int i = 0; i < 2000; ++i) counts["word" + std::to_string(i * i)] = 1 + i % 7;
  struct Stop {};
  TrainerRule const rule{.size = 3000};
  int calls = 0;
  auto const whole = train_vocabulary(counts, rule, [&] { ++calls; }).tokens;
  CHECK(whole == train_vocabulary(counts, rule).tokens);
  CHECK(calls > 50);
  for (int const last : {1, calls / 2, calls}) {
    int left = last;
    auto const stop = [&] {
      if (--left == 0) throw Stop();
    };
    CHECK_THROWS_AS(train_vocabulary(counts, rule, stop), Stop);
  }
}

TEST_CASE("a trained vocabulary is usable, and an impossible size is rejected", "[vocabulary]") {
  WordCounts const counts(words.begin(), words.end());
  Vocabulary const vocabulary(train_vocabulary(counts, {.size = 100}).tokens, "trained");
  TokenizerTables const tables(vocabulary);
  Tokenizer tokenizer(tables, WrittenSpecials::characters);
  std::vector<std::int32_t> ids;
  for (auto const& [word, count] : words) tokenizer.encode(word, ids);
  for (auto const id : ids) CHECK(id != vocabulary.special().unknown);
  CHECK_THROWS_AS(train_vocabulary(counts, {.size = 10}), InputError);
}

TEST_CASE("the most frequent characters are kept, and words with others are counted as lost", "[vocabulary]") {
  // a: 40, b: 30, c: 21, \u4E2D: 3, \u6587: 2, \u56FD: 1
  WordCounts const counts{{"ab", 20}, {"abc", 10}, {"ac", 10}, {"c", 1}, {"\u4E2D", 3}, {"\u6587", 2}, {"\u56FD", 1}};
  auto const of = [&](std::int64_t characters) {
    return train_vocabulary(counts, {.size = 100, .alphabet = characters});
  };
  auto const has = [](TrainedVocabulary const& made, std::string const& token) {
    return std::find(made.tokens.begin(), made.tokens.end(), token) != made.tokens.end();
  };
  auto const all = of(1000);
  CHECK(all.alphabet.distinct == 6);
  CHECK(all.alphabet.kept == 6);
  CHECK(all.alphabet.characters == 40 + 30 + 20 + 1 + 6);
  CHECK(all.alphabet.lost == 0);
  CHECK(has(all, "\u56FD"));
  auto const four = of(4);
  CHECK(four.alphabet.kept == 4);
  CHECK(four.alphabet.lost == 3);
  CHECK((has(four, "\u4E2D") && !has(four, "\u6587")));
  auto const two = of(2);
  CHECK(two.alphabet.distinct == 6);
  CHECK(two.alphabet.lost == 30 + 20 + 1 + 6);
  CHECK((has(two, "ab") && !has(two, "c") && !has(two, "##c")));
  // Words of more than 100 characters are lost for another reason, and have another warning.
  auto longer = counts;
  longer[std::string(101, 'z')] = 1;
  auto const cut = train_vocabulary(longer, {.size = 100, .alphabet = 6}).alphabet;
  CHECK((cut.characters == 198 && cut.distinct == 7 && cut.lost == 1));
  CHECK_THROWS_WITH(train_vocabulary(counts, {.size = 8}),
                    Catch::Matchers::ContainsSubstring("or fewer characters with --alphabet N"));
}
