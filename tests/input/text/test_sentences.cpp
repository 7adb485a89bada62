// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/sentences.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using bellwether::input::sentence_end;

namespace {

std::vector<std::string> sentences_of(std::string const& text) {
  std::vector<std::string> sentences;
  for (std::size_t at = 0; at < text.size();) {
    auto const end = sentence_end(text, at);
    sentences.push_back(text.substr(at, end - at));
    at = end;
  }
  return sentences;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("sentences end at marks before capitals", "[text]") {
  CHECK(sentences_of("Mr. J. Smith paid 3.14 dollars (at 5 p.m. sharp). \"Why?\" he asked. No... Yes!") ==
        Texts{"Mr.", " J. Smith paid 3.14 dollars (at 5 p.m. sharp).", " \"Why?\" he asked.", " No...", " Yes!"});
}

TEST_CASE("sentences end at Chinese and Japanese marks without white space", "[text]") {
  CHECK(sentences_of("\u4E00\u4E8C\u3002\u4E09\uFF01\u56DB\uFF1F\u4E94") ==
        Texts{"\u4E00\u4E8C\u3002", "\u4E09\uFF01", "\u56DB\uFF1F", "\u4E94"});
  CHECK(sentences_of("\u300C\u4E00\u3002\u300D\u4E8C\u3002\u3002a\u3002b") ==
        Texts{"\u300C\u4E00\u3002\u300D", "\u4E8C\u3002\u3002", "a\u3002", "b"});
}

TEST_CASE("sentences end at marks of other scripts before any white space", "[text]") {
  CHECK(sentences_of("\u0915\u0964 \u0916\u0965\u3000\u0917") ==
        Texts{"\u0915\u0964", " \u0916\u0965", "\u3000\u0917"});
  CHECK(sentences_of("\u0627\u061F \u0628\u06D4 \u062A") == Texts{"\u0627\u061F", " \u0628\u06D4", " \u062A"});
  CHECK(sentences_of("One.\u00A0Two.\u2028Three") == Texts{"One.", "\u00A0Two.", "\u2028Three"});
  // Other characters that begin with the same byte as a mark do not end sentences.
  CHECK(sentences_of("\u0630 \u0940 \u3042 \u2020 \uFF0C x") == Texts{"\u0630 \u0940 \u3042 \u2020 \uFF0C x"});
}
