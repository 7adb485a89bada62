// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/corpus_facts.hpp"
#include "input/hdf5_file.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

#include "temporary_folder.hpp"

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
          .duplicates = 0.01,
          .frequency_loss = 6.5};
}

/// The only warning of facts that `spoil` made poor.
template <class Spoil>
std::string only_warning(Spoil const& spoil, std::string const& place = "") {
  auto facts = good();
  spoil(facts);
  auto const texts = corpus_warnings(facts, place);
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
  CHECK_THAT(only_warning([](auto& f) { f.overlong = 60000; }),
             ContainsSubstring("12 % of the text is in words of more"));
  CHECK_THAT(only_warning([](auto& f) { f.vocabulary = 700; }),
             ContainsSubstring("has 700 tokens, 30522 were asked for"));
  CHECK_THAT(only_warning([](auto& f) { f.random_next = 950, f.sentences = 1000; }),
             ContainsSubstring("95 % of the rows") && ContainsSubstring("one sentence each"));
  CHECK_THAT(only_warning([](auto& f) { f.random_next = 950; }), ContainsSubstring("sentences fill whole rows"));
  CHECK_THAT(only_warning([](auto& f) { f.lone_rows = 500; }), ContainsSubstring("50 % of the rows come from windows"));
  CHECK_THAT(only_warning([](auto& f) { f.longest = 20100; }, "a.txt:7"),
             ContainsSubstring("20100 tokens, the median one 100; it begins at a.txt:7: blank lines"));
  CHECK_THAT(only_warning([](auto& f) { f.duplicates = 0.062; }), ContainsSubstring("6.2 % of the documents repeat"));
}

TEST_CASE("few rows and few documents give no warning about shares", "[text]") {
  CHECK(corpus_warnings({.documents = 8, .sentences = 8, .rows = 8, .random_next = 8}).empty());
  CHECK(corpus_warnings({.documents = 9, .longest = 9000, .median = 4}).empty());
}

TEST_CASE("a shard keeps the facts of its corpus", "[text]") {
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

TEST_CASE("the shards of a set tell each corpus once, and those without facts by their rows", "[corpus]") {
  SetFacts set;
  CHECK(set.warnings().empty());
  CHECK(set.frequency_loss() == 0);
  auto poor = good();
  poor.duplicates = 0.5;
  for (int shard = 0; shard < 3; ++shard) {
    set.add(good());
    set.add(poor);
    set.add_rows(100, 50);
  }
  CHECK(set.frequency_loss() == 6.5);
  REQUIRE(set.warnings().size() == 1);
  CHECK_THAT(set.warnings()[0], ContainsSubstring("50 % of the documents repeat"));
  set.add_rows(5000, 4990);
  REQUIRE(set.warnings().size() == 2);
  CHECK_THAT(set.warnings()[1], ContainsSubstring("97 % of the rows have a random next sentence") &&
                                    ContainsSubstring("may have one sentence each"));
}

TEST_CASE("the loss of word frequencies is their entropy, or higher on another text", "[text]") {
  CHECK(frequency_loss({0, 0}, {3, 4}) == 0);
  CHECK(frequency_loss({500000, 500000}, {500000, 500000}) == Catch::Approx(std::log(2)).epsilon(1e-5));
  CHECK(frequency_loss({1, 3}, {0, 2}) == Catch::Approx((std::log(4.0) + 3 * std::log(4.0 / 3)) / 4));
  CHECK(frequency_loss({10, 90}, {90, 10}) > frequency_loss({90, 10}, {90, 10}));
}
