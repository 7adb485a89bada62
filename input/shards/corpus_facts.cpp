// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/corpus_facts.hpp"

#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/shards/lost_text.hpp"
#include "input/shards/shares.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace bellwether::input {
namespace {

constexpr double most_unknown = 0.2, most_cased = 0.02, most_random_next = 0.9, least_random_next = 0.1,
                 most_overlong = 0.05, most_duplicates = 0.05, most_lone_rows = 0.1, longest_over_median = 200,
                 most_pieces = 3.5, most_known_pieces = 1.45, most_accented = 0.02, most_repeated = 0.1;
constexpr std::int64_t few_rows = 16, few_documents = 10;  // too few for a share to be meaningful
constexpr std::int64_t small_vocabulary = 10000;           // smaller ones split words of any language

/// Returns true for facts that earlier versions did not record.
bool is_newer(std::string_view name) {
  constexpr std::string_view newer[] = {
      "corpus_accented_tokens",
      "corpus_words",
      "corpus_repeated_line_share",
      "corpus_context_free_loss",
      "corpus_alphabet",
      "corpus_distinct_characters",
      "corpus_characters",
      "corpus_rare_characters",
      "corpus_letters",
      "corpus_stripped_accents",
      "corpus_stripped_signs",
      "corpus_unreadable_characters",
      "corpus_removed_separators",
      "corpus_letterless_tokens",
  };
  return std::ranges::count(newer, name) > 0;
}

/// Calls `visit(name, member)` for every fact that shards record.
template <class Facts, class Visit>
void for_each_fact(Facts& facts, Visit const& visit) {
  visit("corpus_documents", facts.documents);
  visit("corpus_sentences", facts.sentences);
  visit("corpus_tokens", facts.tokens);
  visit("corpus_unknown_tokens", facts.unknown);
  visit("corpus_bytes", facts.bytes);
  visit("corpus_overlong_word_bytes", facts.overlong);
  visit("corpus_longest_document", facts.longest);
  visit("corpus_median_document", facts.median);
  visit("corpus_rows", facts.rows);
  visit("corpus_random_next_rows", facts.random_next);
  visit("corpus_lone_rows", facts.lone_rows);
  visit("corpus_vocabulary", facts.vocabulary);
  visit("corpus_vocabulary_asked", facts.vocabulary_asked);
  visit("corpus_cased_tokens", facts.cased);
  visit("corpus_accented_tokens", facts.accented);
  visit("corpus_words", facts.words);
  visit("corpus_alphabet", facts.alphabet);
  visit("corpus_distinct_characters", facts.distinct);
  visit("corpus_characters", facts.characters);
  visit("corpus_rare_characters", facts.rare);
  visit("corpus_letters", facts.letters);
  visit("corpus_stripped_accents", facts.accents);
  visit("corpus_stripped_signs", facts.signs);
  visit("corpus_unreadable_characters", facts.unreadable);
  visit("corpus_removed_separators", facts.separators);
  visit("corpus_letterless_tokens", facts.letterless);
  visit("corpus_duplicate_share", facts.duplicates);
  visit("corpus_repeated_line_share", facts.repeated);
  visit("corpus_frequency_loss", facts.frequency_loss);
  visit("corpus_context_free_loss", facts.context_free_loss);
}

std::string number(std::int64_t value) { return std::to_string(value); }

std::string why_random(CorpusFacts const& facts) {
  if (facts.documents == 0) return "documents may have one sentence each, or sentences may fill whole rows";
  if (static_cast<double>(facts.sentences) < 1.5 * static_cast<double>(facts.documents))
    return "documents have one sentence each; put the sentences of a document on consecutive lines, and blank lines "
           "only between documents";
  return "sentences fill whole rows; check that sentences end with a full stop, or take a longer --sequence-length";
}

std::string why_unknown(CorpusFacts const& facts) {
  if (share(facts.cased, facts.vocabulary) > most_cased)
    return "the vocabulary is cased, but the text is lower-cased; use an uncased vocabulary";
  return "the vocabulary is of another language or alphabet than the text; use one of this language, or train one with "
         "--train-vocab";
}

/// Returns the warning about words that are split into many tokens; empty if there is none.
std::string split_words(CorpusFacts const& facts) {
  double const pieces = share(facts.tokens, facts.words);
  char number[32];
  std::snprintf(number, sizeof number, "%.1f", pieces);
  std::string const text = "words are split into " + std::string(number) + " tokens each; 1.1 to 1.4 are usual. ";
  if (pieces > most_pieces)
    return text +
           "The vocabulary is of another language or very small, or the text is not prose (encoded data, numbers). Use "
           "a vocabulary of this text, or train one with --train-vocab";
  // With the vocabulary of BERT-uncased, English prose has 1.1, code 1.3, French and Italian 1.5, German 1.9.
  bool const of_letters = share(facts.letterless, facts.tokens) < 0.5;  // numbers are split in every language
  if (facts.vocabulary_asked > 0 || facts.vocabulary < small_vocabulary || !of_letters || pieces <= most_known_pieces)
    return "";
  return text +
         "The vocabulary is of another language than the text, or the language has long words, such as Finnish. Use a "
         "vocabulary of this language, or train one with --train-vocab";
}

}  // namespace

std::vector<std::string> corpus_warnings(CorpusFacts const& facts, CorpusPlaces const& places) {
  std::vector<std::string> texts;
  auto const warn = [&](bool poor, auto const& text) {
    if (poor) texts.push_back(text());
  };
  bool const overlong = share(facts.overlong, facts.bytes) > most_overlong;
  // A vocabulary of the same text lacks nothing but rare characters, for which there is another warning.
  bool const unknown = !overlong && !loses_rare_characters(facts) && share(facts.unknown, facts.tokens) > most_unknown;
  warn(unknown, [&] {
    return percent(share(facts.unknown, facts.tokens)) +
           " of the tokens are unknown to the vocabulary ([UNK]): " + why_unknown(facts);
  });
  warn(!unknown && share(facts.cased, facts.vocabulary) > most_cased, [&] {
    return "the vocabulary is cased: " + number(facts.cased) + " of its " + number(facts.vocabulary) +
           " tokens have capital letters, which lower-cased text never has; use an uncased vocabulary";
  });
  warn(share(facts.accented, facts.vocabulary) > most_accented, [&] {
    return number(facts.accented) + " of the vocabulary's " + number(facts.vocabulary) +
           " tokens have accents, which are stripped from text; use a vocabulary that was made without accents";
  });
  auto const split = split_words(facts);
  warn(!overlong && !unknown && !split.empty(), [&] { return split; });
  warn(overlong, [&] {
    return percent(share(facts.overlong, facts.bytes)) +
           " of the text is in words of more than 100 characters, which become [UNK]: the text has no spaces between "
           "words, or is not prose (sequences, encoded data)";
  });
  warn(facts.vocabulary_asked > facts.vocabulary, [&] {
    return "the trained vocabulary has " + number(facts.vocabulary) + " tokens, " + number(facts.vocabulary_asked) +
           " were requested: no further pair of pieces repeats in the text; give more text, or set model.vocabulary "
           "to " +
           number(facts.vocabulary);
  });
  warn(facts.rows >= few_rows && share(facts.random_next, facts.rows) > most_random_next, [&] {
    return percent(share(facts.random_next, facts.rows)) +
           " of the rows have a random next sentence (half is usual), so that next-sentence labels mean little: " +
           why_random(facts);
  });
  warn(facts.rows >= few_rows && share(facts.random_next, facts.rows) < least_random_next, [&] {
    return percent(share(facts.random_next, facts.rows)) +
           " of the rows have a random next sentence (half is usual), so that next-sentence labels mean little: the "
           "data was made without them, or next_sentence_labels was never written";
  });
  warn(share(facts.lone_rows, facts.rows) > most_lone_rows, [&] {
    return (facts.documents == 1
                ? std::string("one document")
                : percent(share(facts.lone_rows, facts.rows)) + " of the rows come from windows with one document") +
           ": random next sentences are of the same document, so that next-sentence labels mean little; put blank "
           "lines "
           "between documents";
  });
  warn(facts.documents >= few_documents &&
           static_cast<double>(facts.longest) > longest_over_median * static_cast<double>(facts.median),
       [&] {
         return "the longest document has " + number(facts.longest) + " tokens, the median one " +
                number(facts.median) + (places.longest.empty() ? "" : "; it begins at " + places.longest) +
                ": blank lines between documents may be missing there";
       });
  warn(facts.duplicates > most_duplicates, [&] {
    return percent(facts.duplicates) +
           " of the documents repeat another one exactly; remove duplicates, or the model memorises them";
  });
  warn(facts.repeated > most_repeated, [&] {
    return percent(facts.repeated) + " of the text is in lines that occur more than 10 times" +
           (places.repeated.empty() ? "" : ", such as " + places.repeated) +
           ": headers, licences or menus of pages; remove them, or the model memorises them";
  });
  for (auto& text : lost_text_warnings(facts)) texts.push_back(std::move(text));
  return texts;
}

void write_corpus_facts(std::string const& shard, CorpusFacts const& facts) {
  auto file = Hdf5File::modify(shard);
  for_each_fact(facts, [&](char const* name, auto value) { file.set_attribute("/", name, value); });
  file.close();
}

std::string corpus_facts_fault(Hdf5File const& shard) {
  CorpusFacts facts;
  std::string fault;
  auto const tell = [&](std::string const& text) {
    if (fault.empty()) fault = text;
  };
  for_each_fact(facts, [&]<class T>(std::string const& name, T& value) {
    auto const stored = shard.attribute("/", name);
    if (!stored) return;
    auto const* const found = std::get_if<T>(&*stored);
    if (found == nullptr)
      tell(name + " is not a " + (std::is_same_v<T, double> ? "64-bit float" : "whole number"));
    else if (value = *found; !(value >= 0) || !std::isfinite(static_cast<double>(value)))
      tell(name + " is " + shard.attribute_description("/", name) + "; allowed: 0 or more");
  });
  auto const bound = [&](auto part, auto whole, std::string const& name, std::string const& allowed) {
    if (part > whole) tell(name + " is " + shard.attribute_description("/", name) + "; allowed: " + allowed);
  };
  bound(facts.duplicates, 1.0, "corpus_duplicate_share", "0 to 1");
  bound(facts.repeated, 1.0, "corpus_repeated_line_share", "0 to 1");
  bound(facts.unknown, facts.tokens, "corpus_unknown_tokens", "up to corpus_tokens");
  bound(facts.random_next, facts.rows, "corpus_random_next_rows", "up to corpus_rows");
  bound(facts.lone_rows, facts.rows, "corpus_lone_rows", "up to corpus_rows");
  bound(facts.cased, facts.vocabulary, "corpus_cased_tokens", "up to corpus_vocabulary");
  bound(facts.alphabet, facts.distinct, "corpus_alphabet", "up to corpus_distinct_characters");
  bound(facts.letterless, facts.tokens, "corpus_letterless_tokens", "up to corpus_tokens");
  bound(facts.rare, facts.characters, "corpus_rare_characters", "up to corpus_characters");
  return fault;
}

std::optional<CorpusFacts> read_corpus_facts(Hdf5File const& shard) {
  if (!corpus_facts_fault(shard).empty()) return std::nullopt;
  CorpusFacts facts;
  bool complete = true;
  for_each_fact(facts, [&]<class T>(char const* name, T& value) {
    auto const stored = shard.attribute("/", name);
    auto const* const found = stored ? std::get_if<T>(&*stored) : nullptr;
    complete = complete && (found != nullptr || is_newer(name));
    if (found != nullptr) value = *found;
  });
  return complete ? std::optional(facts) : std::nullopt;
}

void SetFacts::add(CorpusFacts const& facts, std::string const& path, std::int64_t rows) {
  auto found = std::ranges::find(corpora_, facts, &Corpus::facts);
  if (found == corpora_.end()) found = corpora_.insert(found, {.facts = facts, .first = path});
  found->rows += rows;
}

void SetFacts::add_counted(CorpusFacts const& counted) {
  others_.rows += counted.rows;
  others_.random_next += counted.random_next;
  others_.tokens += counted.tokens;
  others_.unknown += counted.unknown;
}

std::vector<std::string> SetFacts::row_warnings() const {
  std::vector<std::string> texts;
  for (auto const& [facts, first, rows] : corpora_) {
    if (rows < facts.rows)
      texts.push_back(first + ": " + number(rows) + " of the " + number(facts.rows) +
                      " rows of this set are here; shards are missing, unless you left them out on purpose: list all "
                      "that `prepare` wrote");
    if (rows > facts.rows)
      texts.push_back(first + ": " + number(rows) + " rows of this set are here, but `prepare` wrote " +
                      number(facts.rows) + "; shards are repeated or were changed: list each one once, unchanged");
  }
  return texts;
}

std::vector<std::string> SetFacts::warnings() const {
  std::vector<std::string> texts;
  auto const take = [&](CorpusFacts const& facts) {
    for (auto& text : corpus_warnings(facts)) texts.push_back(std::move(text));
  };
  for (auto const& corpus : corpora_) take(corpus.facts);
  take(others_);
  return texts;
}

double SetFacts::mean(double CorpusFacts::*loss) const {
  double mean = 0, tokens = 0;
  for (auto const& [facts, first, rows] : corpora_) {
    if (rows == 0 || facts.rows == 0 || facts.tokens == 0) continue;
    // Part of a corpus may be missing, and its evaluations see only the rows that are here.
    double const here = static_cast<double>(facts.tokens) * static_cast<double>(rows) / static_cast<double>(facts.rows);
    if (facts.*loss == 0) return 0;
    tokens += here;
    mean += here / tokens * (facts.*loss - mean);  // with one corpus exactly its loss
  }
  return mean;
}

}  // namespace bellwether::input
