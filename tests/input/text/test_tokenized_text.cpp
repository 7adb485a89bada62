// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Texts that other tokenizers have written, and texts that only look like them.
#include "input/text/text_kind.hpp"
#include "input/text/tokenized_text.hpp"
#include "tests/input/text/times.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

struct Tokenized {
  std::string line, found, remedy;
};

std::string prose(int lines) { return times(lines, "The ferry left the harbour at noon, and nobody waved to it.\n"); }

}  // namespace

TEST_CASE("text of other tokenizers gets a warning", "[text]") {
  auto const tokenized = GENERATE(
      Tokenized{"The <unk> left the harbour at <unk> .\n", "holds <unk> for more than 1 in 300 words",
                "take the text that this tokenizer read"},
      Tokenized{"the [UNK] left the harbour at noon .\r\n", "holds <unk>", "take the text that this tokenizer read"},
      Tokenized{"The fer@@ ry left the har@@ bour at no@@\n", "holds parts of words that end in @@",
                "sed -E 's/@@( |$)//g' FILE"},
      Tokenized{"the fer ##ry left the har ##bour at noon .\n", "holds parts of words that begin with ##",
                "sed 's/ ##//g' FILE"},
      Tokenized{"\u2581The \u2581fer ry \u2581left .\n", "holds U+2581", "as spm_decode does"},
      Tokenized{"The\u2581ferry\u2581left\u2581the\u2581harbour.\n", "holds U+2581", "as spm_decode does"},
      Tokenized{"The \u0120fer ry \u0120left \u0120the \u0120har bour .\n", "holds U+0120",
                "decode it with the tokenizer that encoded it"},
      Tokenized{"A well @-@ known ferry of 1 @,@ 200 tons .\n", "holds marks such as @-@ for a hyphen",
                "sed -E 's: @([-,./])@ :\\1:g' FILE"});
  CAPTURE(tokenized.line);
  for (auto const& text : {times(30, tokenized.line), "A heading\n\n" + times(30, tokenized.line)}) {
    CHECK_THAT(markup_warning(text), StartsWith(tokenized.found) && ContainsSubstring(tokenized.remedy));
    CHECK(later_markup_warning(text) == token_warning(text));
  }
  // A text about tokenizers has a few of their marks.
  CHECK(token_warning(tokenized.line).empty());
  CHECK(token_warning(prose(100) + times(2, tokenized.line) + prose(100)).empty());
}

TEST_CASE("texts with similar signs are not of other tokenizers", "[text]") {
  auto const* const line = GENERATE(
      "## Heading\n\n### Another one ##\n\nA paragraph of `##ing`, `@@`, \"<unk>\" and #tags.\n",
      "##comment\nx <- f(y)  ## another\n#define JOIN(a, b) a##b\n", "@@ -1,2 +3,4 @@ int main()\n+int a;\n-int b;\n",
      "@@count += 1 if @name == @@names\nselect @@rowcount; @@NAME@@\n",
      "It was hot @_@ and @anna wrote to ben@example.org @ noon.\n",
      "load \u2581\u2582\u2583\u2585\u2587 \u2581\u2581\u2581\u2582 of the ferry\n",
      "\u0120or\u0121 mar lejn il-port u ra l-vapur fil-g\u0127axija.\n", "list = <unknown> <unk_token> [UNKNOWN]\n");
  CAPTURE(line);
  CHECK(token_warning(times(100, line)).empty());
}

TEST_CASE("five marks of a tokenizer are needed, and a share of the words", "[text]") {
  CHECK(token_warning("").empty());
  CHECK(token_warning(times(4, "<unk> ")).empty());
  CHECK(!token_warning(times(5, "<unk> ")).empty());
  std::string const marks = times(5, "<unk> ");
  CHECK(!token_warning(marks + times(1494, "word ")).empty());
  CHECK(token_warning(marks + times(1495, "word ")).empty());
}
