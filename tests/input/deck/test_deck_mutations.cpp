// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <iterator>
#include <random>

using namespace bellwether;

namespace {

/// Texts that tend to break decks, inserted at random places.
std::vector<std::string> const pieces = {":",
                                         ": ",
                                         "\n",
                                         "\n  ",
                                         "  ",
                                         "- ",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         ",",
                                         "#",
                                         " # ",
                                         "\t",
                                         "'",
                                         "\"",
                                         "|\n",
                                         ">\n",
                                         "&a ",
                                         "*a",
                                         "!!",
                                         "!<",
                                         "%YAML 9.9\n",
                                         "---\n",
                                         "...\n",
                                         "? ",
                                         "<<: *a",
                                         "null",
                                         "~",
                                         "yes",
                                         "1e5",
                                         "1e999",
                                         ".inf",
                                         ".nan",
                                         "0x",
                                         "-0",
                                         "\\x",
                                         "\\u0000",
                                         "\r\n",
                                         "\r",
                                         "model:",
                                         "lr: 1",
                                         "freeze: auto",
                                         "freeze: {step: 5}",
                                         "onebit_lamb",
                                         "\xEF\xBB\xBF",
                                         "\xFF",
                                         "\xC3",
                                         "\xE2\x80\xA8",
                                         "\x7F",
                                         "@",
                                         "`",
                                         "99999999999999999999"};

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}
  std::string mutate(std::string text) {
    for (int rounds = 1 + below(6); rounds > 0; --rounds) {
      auto const at = static_cast<std::size_t>(below(static_cast<int>(text.size()) + 1));
      switch (below(6)) {
        case 0:
          text.insert(at, pieces[static_cast<std::size_t>(below(static_cast<int>(pieces.size())))]);
          break;
        case 1:
          text.erase(at, static_cast<std::size_t>(1 + below(20)));
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(below(256));
          break;
        case 3:
          text.insert(at, text.substr(static_cast<std::size_t>(below(static_cast<int>(text.size()) + 1)), 40));
          break;
        case 4:
          text.resize(at);
          break;
        default:
          std::swap(text[at % text.size()], text[static_cast<std::size_t>(below(1 << 20)) % text.size()]);
      }
      if (text.empty()) text = "run:\n";
    }
    return text;
  }

 private:
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("Broken decks are rejected or read, and never crash") {
  DeckFolder const folder;
  std::ifstream file(std::string(BELLWETHER_SOURCE_ROOT) + "/input/decks/tiny.yaml");
  std::string const deck{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  REQUIRE_FALSE(deck.empty());
  auto const seed = Catch::getSeed();
  INFO("seed " << seed);
  Mutator mutator(seed);
  int read = 0, refused = 0;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end && read + refused < 20000) {
    // Often start from a short deck, where a random change affects more.
    auto text = mutator.mutate(
        refused % 2
            ? deck
            : "data:\n  train: [shards/train]\noptimizer:\n  lr: 1e-3\n  method: onebit_sgd\n  freeze:\n    step: 4\n");
    auto const source = folder.source(text, {"run.name=" + mutator.mutate("a")});
    try {
      auto const result = input::parse_deck(source);
      // An accepted deck can be written out and read again.
      input::parse_deck({"resolved.yaml", input::resolved_deck(result, source), {}, "/", "/"});
      ++read;
    } catch (InputError const& error) {
      ++refused;
      for (auto const& fault : error.faults()) {
        CHECK((fault.starts_with("deck.yaml:") || fault.starts_with("--set ")));
        CHECK(fault.find('\n') == std::string::npos);
      }
    }
  }
  CHECK(read > 0);
  CHECK(refused > 0);
}
