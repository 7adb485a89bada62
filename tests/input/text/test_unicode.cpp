// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/unicode.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>

using namespace bellwether::input;

namespace {

std::string words_of(std::string_view text) {
  static BertCharacters const characters;
  std::string words;
  characters.normalise(text, words);
  return words;
}

}  // namespace

TEST_CASE("each maximal part of a UTF-8 fault becomes one replacement character", "[unicode]") {
  struct Case {
    std::string_view bytes;
    std::u32string_view codes;
  };
  auto const c =
      GENERATE(Case{"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", U"a\u00E9\u20AC\U0001F600"}, Case{"\x80z", U"\uFFFDz"},
               Case{"\xC0\xAF", U"\uFFFD\uFFFD"}, Case{"\xE2\x82z", U"\uFFFDz"},
               Case{"\xED\xA0\x80", U"\uFFFD\uFFFD\uFFFD"}, Case{"\xF4\x90\x80\x80", U"\uFFFD\uFFFD\uFFFD\uFFFD"},
               Case{"\xF0\x9F\x98", U"\uFFFD"}, Case{"\xF4\x8F\xBF\xBF", U"\U0010FFFF"});
  std::u32string got;
  for (std::size_t at = 0; at < c.bytes.size();) got.push_back(decode_utf8(c.bytes, at));
  CHECK(got == c.codes);
  CHECK(is_valid_utf8(c.bytes) == (got.find(U'\uFFFD') == std::u32string::npos));
}

TEST_CASE("a written replacement character is valid UTF-8 and removed", "[unicode]") {
  CHECK(is_valid_utf8("a\xEF\xBF\xBD"));
  CHECK(words_of("a\xEF\xBF\xBD"
                 "b") == "ab");
  CHECK(words_of("a\xFF"
                 "b") == "ab");
}

TEST_CASE("words are cleaned, lower-cased, stripped of accents and split", "[unicode]") {
  CHECK(words_of("  Caf\u00E9 CR\u00C8ME\tbr\u00FBl\u00E9e ") == "cafe creme brulee");
  CHECK(words_of("don't-stop $5+<a>") == "don ' t - stop $ 5 + < a >");
  CHECK(words_of("\u4E2D\u6587ab\u56FD") == "\u4E2D \u6587 ab \u56FD");
  CHECK(words_of("zero\u200Bwidth soft\u00ADhyphen nul\x01!") == "zerowidth softhyphen nul !");
  CHECK(words_of("\u0130stanbul \u039F\u0394\u039F\u03A3 \u1E9E") == "istanbul \u03BF\u03B4\u03BF\u03C3 \u00DF");
  CHECK(words_of("a\u00A0b\u2003c\u3000d") == "a b c d");
  CHECK(words_of("\u201CQuoted\u201D\u2014dash\u2026") == "\u201C quoted \u201D \u2014 dash \u2026");
  CHECK(words_of("\uAC00") == "\u1100\u1161");
  CHECK(words_of("") == "");
  CHECK(words_of(" \t\r\n") == "");
}

TEST_CASE("marks that are kept are in canonical order", "[unicode]") {
  // Both are spacing marks with a combining class, 226 and 216, so they are kept and swapped.
  CHECK(words_of("a\U0001D16D\U0001D165") == "a\U0001D165\U0001D16D");
}

TEST_CASE("older tables of the reference are followed", "[unicode]") {
  CHECK(words_of("a\u07FD") == "a\u07FD");        // a mark of Unicode 11: not stripped
  CHECK(words_of("a\u2E4Fb") == "a\u2E4Fb");      // punctuation of Unicode 12: not split off
  CHECK(words_of("a\u08E2") == "a\u08E2");        // a format character of Unicode 9: not removed
  CHECK(words_of("\U00011938") == "\U00011938");  // added in Unicode 13: not decomposed
  CHECK(words_of("\U00010D50") == "\U00010D70");  // a capital letter of Unicode 16: lower-cased
  CHECK(words_of("a\u166Db") == "a \u166D b");    // reclassified in newer versions
}

TEST_CASE("characters that the clean-up leaves out are counted by their kind", "[unicode]") {
  static BertCharacters const characters;
  auto const counts_of = [](std::string_view text) {
    CharacterCounts counts;
    std::string words;
    characters.normalise(text, words, &counts);
    CHECK(words == words_of(text));
    return counts;
  };
  CHECK(counts_of("Plain text, 12 $ and 3.") == CharacterCounts{.letters = 12});
  CHECK(counts_of("caf\u00E9 cafe\u0301 \u0439") == CharacterCounts{.letters = 9, .accents = 3});
  // Hindi ki with a spacing vowel sign and ku with another; Thai kin; Japanese ga; Arabic alif with hamza.
  CHECK(counts_of("\u0915\u093F \u0915\u0941") == CharacterCounts{.letters = 3, .signs = 1});
  CHECK(counts_of("\u0E01\u0E34\u0E19") == CharacterCounts{.letters = 2, .signs = 1});
  CHECK(counts_of("\u304C \u0623") == CharacterCounts{.letters = 2, .signs = 2});
  CHECK(counts_of("\u4E2D\u6587\uAC00") == CharacterCounts{.letters = 4});
  // Bytes that are not UTF-8 are reported elsewhere.
  CHECK(counts_of("a\uE000\U000F1234\uFFFD\xFF\xF0\x9F\x98") == CharacterCounts{.letters = 1, .unreadable = 3});
  CHECK(counts_of("a\u200Bb\u200Cc \u200B \u200Dsoft\u00ADhyphen \u200F") ==
        CharacterCounts{.letters = 13, .separators = 2});
  CHECK(counts_of("\u2764\uFE0F") == CharacterCounts{});
  auto sum = counts_of("a\u0301");
  sum += counts_of("b\uFFFD");
  CHECK(sum == CharacterCounts{.letters = 2, .accents = 1, .unreadable = 1});
}
