// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/hdf5/hdf5_file.hpp"
#include "input/shards/corpus_facts.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A corpus nothing is wrong with.
CorpusFacts good() {
  return {.documents = 1000,
          .sentences = 9000,
          .tokens = 100000,
          .unknown = 100,
          .bytes = 500000,
          .overlong = 1000,
          .longest = 5000,
          .median = 100,
          .rows = 1000,
          .random_next = 550,
          .lone_rows = 10,
          .vocabulary = 30522,
          .vocabulary_asked = 30522,
          .cased = 3,
          .accented = 5,
          .words = 80000,
          .alphabet = 1000,
          .distinct = 1200,
          .characters = 400000,
          .rare = 1000,
          .letters = 400000,
          .accents = 20000,
          .signs = 2000,
          .unreadable = 3000,
          .separators = 4000,
          .letterless = 15000,
          .duplicates = 0.01,
          .repeated = 0.08,
          .frequency_loss = 6.5,
          .context_free_loss = 6};
}

/// The only warning of facts that `spoil` made poor.
template <class Spoil>
std::string only_warning(Spoil const& spoil, CorpusPlaces const& places = {}) {
  auto facts = good();
  spoil(facts);
  auto const texts = corpus_warnings(facts, places);
  REQUIRE(texts.size() == 1);
  return texts[0];
}

}  // namespace

TEST_CASE("each fault of a corpus has one warning with number and cause", "[text]") {
  CHECK(corpus_warnings(good()).empty());
  CHECK(corpus_warnings({}).empty());
  CHECK_THAT(only_warning([](auto& f) { f.unknown = 34000; }),
             ContainsSubstring("34 % of the tokens are unknown") && ContainsSubstring("of another language"));
  CHECK_THAT(only_warning([](auto& f) { f.unknown = 21000, f.cased = 9000; }),
             ContainsSubstring("21 % of the tokens") && ContainsSubstring("the vocabulary is cased"));
  CHECK_THAT(only_warning([](auto& f) { f.cased = 9000; }), ContainsSubstring("9000 of its 30522 tokens have capital"));
  CHECK_THAT(only_warning([](auto& f) { f.words = 20000; }), ContainsSubstring("words are split into 5.0 tokens each"));
  CHECK_THAT(only_warning([](auto& f) { f.vocabulary_asked = 0, f.words = 20000; }),
             ContainsSubstring("5.0 tokens each") && ContainsSubstring("not prose"));
  CHECK(corpus_warnings({.tokens = 7000, .words = 2000}).empty());
  CHECK_THAT(only_warning([](auto& f) { f.accented = 3000; }),
             ContainsSubstring("3000 of the vocabulary's 30522 tokens have accents"));
  CHECK_THAT(only_warning([](auto& f) { f.overlong = 60000; }),
             ContainsSubstring("12 % of the text is in words of more"));
  CHECK_THAT(only_warning([](auto& f) { f.vocabulary = 700; }),
             ContainsSubstring("has 700 tokens, 30522 were requested"));
  CHECK_THAT(only_warning([](auto& f) { f.random_next = 950, f.sentences = 1000; }),
             ContainsSubstring("95 % of the rows") && ContainsSubstring("one sentence each"));
  CHECK_THAT(only_warning([](auto& f) { f.random_next = 950; }), ContainsSubstring("sentences fill whole rows"));
  CHECK_THAT(only_warning([](auto& f) { f.random_next = 0; }),
             ContainsSubstring("0.0 % of the rows have a random next sentence") &&
                 ContainsSubstring("next_sentence_labels was never written"));
  CHECK_THAT(only_warning([](auto& f) { f.lone_rows = 500; }), ContainsSubstring("50 % of the rows come from windows"));
  CHECK_THAT(only_warning([](auto& f) { f.longest = 20100; }, {.longest = "a.txt:7", .repeated = ""}),
             ContainsSubstring("20100 tokens, the median one 100; it begins at a.txt:7: blank lines"));
  CHECK_THAT(only_warning([](auto& f) { f.duplicates = 0.062; }), ContainsSubstring("6.2 % of the documents repeat"));
  CHECK(only_warning([](auto& f) { f.repeated = 0.12; }, {.longest = "", .repeated = "a.txt:9"}) ==
        "12 % of the text is in lines that occur more than 10 times, such as a.txt:9: headers, licences or menus of "
        "pages; remove them, or the model memorises them");
  CHECK_THAT(only_warning([](auto& f) { f.repeated = 1; }),
             ContainsSubstring("100 % of the text is in lines that occur more than 10 times: headers"));
}

TEST_CASE("a given vocabulary of another language with the same letters is reported", "[text]") {
  auto const foreign = [](CorpusFacts& facts) {
    facts.vocabulary_asked = 0;
    facts.words = 55000;
  };
  CHECK_THAT(only_warning(foreign), ContainsSubstring("words are split into 1.8 tokens each; 1.1 to 1.4 are usual") &&
                                        ContainsSubstring("of another language than the text"));
  auto const is_silent = [&](auto const& change) {
    auto facts = good();
    foreign(facts);
    change(facts);
    return corpus_warnings(facts).empty();
  };
  CHECK(is_silent([](auto& f) { f.words = 72000; }));  // technical English
  CHECK(is_silent([](auto& f) { f.vocabulary_asked = f.vocabulary; }));
  CHECK(is_silent([](auto& f) { f.vocabulary = 4096; }));
  CHECK(is_silent([](auto& f) { f.letterless = f.tokens / 2; }));
}

TEST_CASE("text that is lost has a warning with its share and cause", "[text]") {
  CHECK_THAT(only_warning([](auto& f) { f.rare = 20000; }),
             ContainsSubstring("5.0 % of the characters of the text are in words that become [UNK]") &&
                 ContainsSubstring("keeps the 1000 most frequent of 1200 characters") &&
                 ContainsSubstring("a larger --alphabet"));
  CHECK_THAT(only_warning([](auto& f) { f.signs = 100000; }),
             ContainsSubstring("20 % of the letters and marks are vowel signs") && ContainsSubstring("Hindi") &&
                 ContainsSubstring("another program"));
  CHECK_THAT(only_warning([](auto& f) { f.accents = 100000; }),
             ContainsSubstring("20 % of the letters and accents are accents"));
  CHECK_THAT(
      only_warning([](auto& f) { f.unreadable = 100000; }),
      ContainsSubstring("20 % of the characters are unreadable") && ContainsSubstring("decode the original again"));
  CHECK_THAT(
      only_warning([](auto& f) { f.separators = 100000; }),
      ContainsSubstring("20 % of the characters are zero-width") && ContainsSubstring("replace U+200B by a space"));
  CHECK_THAT(only_warning([](auto& f) { f.letters = f.accents = f.signs = f.separators = 0; }),
             ContainsSubstring("100 % of the characters"));
  CHECK_THAT(only_warning([](auto& f) { f.letterless = 51000; }),
             ContainsSubstring("51 % of the tokens are numbers, punctuation or symbols"));
  // Rare characters explain unknown tokens, and the vocabulary is of the right language.
  CHECK_THAT(only_warning([](auto& f) { f.rare = 20000, f.unknown = 34000; }), ContainsSubstring("--alphabet"));
}

TEST_CASE("few rows and few documents give no warning about shares", "[text]") {
  CHECK(corpus_warnings({.documents = 8, .sentences = 8, .rows = 8, .random_next = 8}).empty());
  CHECK(corpus_warnings({.documents = 8, .sentences = 80, .rows = 15}).empty());
  CHECK(corpus_warnings({.documents = 9, .longest = 9000, .median = 4}).empty());
}

TEST_CASE("a shard stores the facts of its corpus", "[text]") {
  TemporaryFolder const folder;
  {
    auto file = Hdf5File::create(folder / "shard.h5");
    file.set_attribute("/", "format", "bellwether shard");
    file.close();
  }
  CHECK(!read_corpus_facts(Hdf5File::open(folder / "shard.h5")));
  write_corpus_facts(folder / "shard.h5", good());
  CHECK(read_corpus_facts(Hdf5File::open(folder / "shard.h5")) == good());
  CHECK(Hdf5File::open(folder / "shard.h5").attribute("/", "format") == Hdf5File::Attribute("bellwether shard"));
}

TEST_CASE("a set reports each corpus once, and shards without facts by their rows", "[corpus]") {
  SetFacts set;
  CHECK(set.warnings().empty());
  CHECK((set.frequency_loss() == 0 && set.context_free_loss() == 0));
  auto poor = good();
  poor.duplicates = 0.5;
  for (int shard = 0; shard < 3; ++shard) {
    set.add(good(), "a.h5", 300);
    set.add(poor, "b.h5", 300);
    set.add_counted({.tokens = 1000, .rows = 100, .random_next = 50});
  }
  CHECK((set.frequency_loss() == 6.5 && set.context_free_loss() == 6));
  REQUIRE(set.warnings().size() == 1);
  CHECK_THAT(set.warnings()[0], ContainsSubstring("50 % of the documents repeat"));
  set.add_counted({.rows = 5000, .random_next = 4990});
  REQUIRE(set.warnings().size() == 2);
  CHECK_THAT(set.warnings()[1], ContainsSubstring("97 % of the rows have a random next sentence") &&
                                    ContainsSubstring("may have one sentence each"));
  set.add_counted({.tokens = 9000, .unknown = 6000});
  REQUIRE(set.warnings().size() == 3);
  CHECK_THAT(set.warnings()[1], ContainsSubstring("50 % of the tokens are unknown to the vocabulary ([UNK])"));
}

TEST_CASE("the losses of several corpora are weighted by their tokens in the set", "[corpus]") {
  auto other = good();
  other.tokens = 300000;
  other.frequency_loss = 4.5;
  other.context_free_loss = 2;
  auto empty = good();
  empty.frequency_loss = 9;
  SetFacts set;
  set.add(empty, "empty.h5", 0);
  CHECK(set.frequency_loss() == 0);
  set.add(good(), "a/0.h5", 600);
  set.add(other, "b/0.h5", 1000);
  set.add(good(), "a/1.h5", 400);
  set.add_counted({.tokens = 1000000, .rows = 100});  // of another program: its losses are not known
  CHECK(set.frequency_loss() == 5);
  CHECK(set.context_free_loss() == 3);
  // Only a third of the other corpus is here.
  SetFacts part;
  other.rows = 3000;
  part.add(good(), "a/0.h5", 1000);
  part.add(other, "b/0.h5", 1000);
  CHECK(part.frequency_loss() == 5.5);
  CHECK(part.context_free_loss() == 4);
  // A corpus of an earlier version: the loss of the others alone would mislead.
  other.context_free_loss = 0;
  set.add(other, "c/0.h5", 10);
  CHECK(set.frequency_loss() > 0);
  CHECK(set.context_free_loss() == 0);
}

TEST_CASE("shards of earlier versions are read without the newer facts", "[corpus]") {
  TemporaryFolder const folder;
  auto older = good();
  older.repeated = older.context_free_loss = 0;
  older.alphabet = older.distinct = older.characters = older.rare = older.letters = older.accents = older.signs = 0;
  older.unreadable = older.separators = older.letterless = 0;
  {
    auto file = Hdf5File::create(folder / "shard.h5");
    // The facts that an earlier version writes.
    for (auto const& [name, value] : std::initializer_list<std::pair<char const*, std::int64_t>>{
             {"corpus_documents", older.documents},
             {"corpus_sentences", older.sentences},
             {"corpus_tokens", older.tokens},
             {"corpus_unknown_tokens", older.unknown},
             {"corpus_bytes", older.bytes},
             {"corpus_overlong_word_bytes", older.overlong},
             {"corpus_longest_document", older.longest},
             {"corpus_median_document", older.median},
             {"corpus_rows", older.rows},
             {"corpus_random_next_rows", older.random_next},
             {"corpus_lone_rows", older.lone_rows},
             {"corpus_vocabulary", older.vocabulary},
             {"corpus_vocabulary_asked", older.vocabulary_asked},
             {"corpus_cased_tokens", older.cased},
             {"corpus_accented_tokens", older.accented},
             {"corpus_words", older.words}})
      file.set_attribute("/", name, value);
    file.set_attribute("/", "corpus_duplicate_share", older.duplicates);
    file.set_attribute("/", "corpus_frequency_loss", older.frequency_loss);
    file.close();
  }
  CHECK(read_corpus_facts(Hdf5File::open(folder / "shard.h5")) == older);
}

TEST_CASE("rows that a set records but does not have are reported", "[corpus]") {
  SetFacts set;
  auto other = good();
  other.rows = 70;
  set.add(good(), "a/0.h5", 600);
  set.add(other, "b/0.h5", 70);
  set.add(good(), "a/1.h5", 400);
  CHECK(set.row_warnings().empty());
  set.add(good(), "a/2.h5", 1);
  REQUIRE(set.row_warnings().size() == 1);
  CHECK_THAT(
      set.row_warnings()[0],
      ContainsSubstring("a/0.h5: 1001 rows of this set are here, but `prepare` wrote 1000; shards are repeated"));
  SetFacts part;
  part.add(good(), "a/0.h5", 600);
  part.add(other, "b/0.h5", 69);
  REQUIRE(part.row_warnings().size() == 2);
  CHECK_THAT(part.row_warnings()[0],
             ContainsSubstring("a/0.h5: 600 of the 1000 rows of this set are here; shards are missing"));
  CHECK_THAT(part.row_warnings()[1], ContainsSubstring("b/0.h5: 69 of the 70 rows"));
}

TEST_CASE("impossible facts are reported by their attribute and ignored", "[corpus]") {
  TemporaryFolder const folder;
  auto const fault_of = [&](auto const& spoil) {
    auto file = Hdf5File::create(folder / "shard.h5");
    file.close();
    write_corpus_facts(folder / "shard.h5", good());
    auto shard = Hdf5File::modify(folder / "shard.h5");
    spoil(shard);
    shard.close();
    auto const read = Hdf5File::open(folder / "shard.h5");
    CHECK(read_corpus_facts(read).has_value() == corpus_facts_fault(read).empty());
    return corpus_facts_fault(read);
  };
  auto const with = [&](std::string const& name, Hdf5File::Attribute const& value) {
    return fault_of([&](Hdf5File& file) { file.set_attribute("/", name, value); });
  };
  CHECK(fault_of([](Hdf5File&) {}).empty());
  CHECK(with("corpus_duplicate_share", 9.0) == "corpus_duplicate_share is 9; allowed: 0 to 1");
  CHECK(with("corpus_repeated_line_share", 1.5) == "corpus_repeated_line_share is 1.5; allowed: 0 to 1");
  CHECK(with("corpus_duplicate_share", std::nan("")) == "corpus_duplicate_share is nan; allowed: 0 or more");
  CHECK(with("corpus_frequency_loss", HUGE_VAL) == "corpus_frequency_loss is inf; allowed: 0 or more");
  CHECK(with("corpus_context_free_loss", -1.0) == "corpus_context_free_loss is -1; allowed: 0 or more");
  CHECK(with("corpus_rows", std::int64_t{-5}) == "corpus_rows is -5; allowed: 0 or more");
  CHECK(with("corpus_rows", 5.0) == "corpus_rows is not a whole number");
  CHECK(with("corpus_duplicate_share", "none") == "corpus_duplicate_share is not a 64-bit float");
  CHECK(with("corpus_rare_characters", std::int64_t{400001}) ==
        "corpus_rare_characters is 400001; allowed: up to corpus_characters");
  CHECK(with("corpus_unknown_tokens", std::int64_t{100001}) ==
        "corpus_unknown_tokens is 100001; allowed: up to corpus_tokens");
}
