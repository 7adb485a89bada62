// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Texts that are valid UTF-8 and poor to train on, and texts that only look like them.
#include "input/text/encoded_text.hpp"
#include "input/text/text_kind.hpp"
#include "input/text/text_source.hpp"
#include "input/text/typeset_text.hpp"
#include "tests/input/text/times.hpp"
#include "tests/support/shared_data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <span>
#include <string>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::StartsWith;

namespace {

/// Prose without any mark, of at least `bytes` bytes.
std::string prose(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "The ferry left the harbour at noon, and nobody on the pier waved to it.\n";
  return text;
}

struct Poor {
  std::string line, warning;
};

Poor any_poor() {
  return GENERATE(
      Poor{"Le caf+AOk est ferm+AOk-, d+AOk-sol+AOk-.\n", "looks like UTF-7"},
      Poor{"The next sentence is in GB.~{<:Ky2;S{#,NpJ)l6HK!#~}Bye.\n", "looks like HZ"},
      Poor{"Le caf=C3=A9 est ferm=C3=A9.\n", "looks like quoted-printable mail"},
      Poor{"Das sch=F6ne Lied ist noch verf=FCgbar.\n", "looks like quoted-printable mail"},
      Poor{"A line of mail is cut after seventy-five characters, which it marks wi=\nth a sign.\n",
           "looks like quoted-printable mail"},
      Poor{"Le%20caf%C3%A9.\n", "looks percent-encoded"},
      Poor{"Le caf&eacute; est ferm&#233; depuis le mois d&#x27;ao&ucirc;t.\n", "holds entities of HTML"},
      Poor{"Le caf\u00C3\u00A9 est ferm\u00C3\u00A9.\n", "was encoded as UTF-8 twice"},
      Poor{"They don\u00E2\u20AC\u2122t know it.\n",
           "was encoded as UTF-8 twice (U+00C3 U+00A9 for U+00E9): letters become two or three others; "
           "undo it once: iconv -f UTF-8 -t WINDOWS-1252 FILE"},
      Poor{"They don\u00E2\u0080\u0099t know it.\n",
           "was encoded as UTF-8 twice (U+00C3 U+00A9 for U+00E9): letters become two or three others; "
           "undo it once: iconv -f UTF-8 -t ISO-8859-1 FILE"},
      Poor{"TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz\n", "holds lines of base64"},
      Poor{"00000010: 6f72 6c64 2c20 616e 6420 6d6f 7265 0a00  orld, and more..\n",
           "holds lines of hexadecimal digits"},
      Poor{"00000010  6f 72 6c 64 2c 20 61 6e  64 20 6d 6f 72 65 0a 00  |orld, and more..|\r\n",
           "holds lines of hexadecimal digits"},
      Poor{"d41d8cd98f00b204e9800998ecf8427e\n", "holds lines of hexadecimal digits"},
      Poor{"M5&AI<R!I<R!A(&QI;F4@;V8@=&5X=\"!T:&%T('=A<R!E;F-O9&5D(&9O<B!M\n", "holds lines of uuencode"},
      Poor{"The \\emph{norm} of \\cite{a} is $\\frac{1}{2}$, and \\alpha grows.\n", "looks like LaTeX"},
      Poor{"'''Berlin''' is the [[capital city|capital]] of [[Germany]].\n", "looks like wiki markup"},
      Poor{"== History ==\nThe [[ferry]] left the [[:de:Hafen]].\n", "looks like wiki markup"},
      Poor{"{{Infobox}}\nThe [[ferry]] left the [[harbour]].\n", "looks like wiki markup"});
}

}  // namespace

TEST_CASE("text that is encoded for mail or web, dumps, LaTeX and wiki markup get a warning", "[text]") {
  auto const poor = any_poor();
  CAPTURE(poor.line);
  CHECK_THAT(markup_warning(times(30, poor.line)), StartsWith(poor.warning));
  CHECK_THAT(markup_warning("\uFEFFA heading\n\n" + times(30, poor.line)), StartsWith(poor.warning));
}

TEST_CASE("a text about an encoding, with a few examples of it, gets no warning", "[text]") {
  auto const poor = any_poor();
  CAPTURE(poor.line);
  CHECK(markup_warning(poor.line).empty());
  CHECK(markup_warning(prose(8000) + times(2, poor.line) + prose(8000)).empty());
}

TEST_CASE("prose of several languages gets no warning", "[text]") {
  auto const* const line = GENERATE(
      "The ferry left at noon (50% full), cost \u00A3 4 + tax & fees; nobody on the pier \u2014 not one \u2014 "
      "waved.\n",
      "Die F\u00E4hre fuhr \u00FCber den Flu\u00DF; \u201EGr\u00FC\u00DFe\u201C rief man, und "
      "\u201ETSCH\u00DC\u00DF!\u201C. \u00C4rger gab's keinen.\n",
      "Le \u00AB\u00A0caf\u00E9\u00A0\u00BB ferma d\u00E8s l'\u00E9t\u00E9\u00A0: \u00C0 bient\u00F4t\u2026 dit-il, "
      "d\u00E9\u00E7u et f\u00E2ch\u00E9 \u00E0 la fois.\n",
      "N\u00C3O! SA\u00DADE E PAZ, disse a irm\u00E3 \u00E0 m\u00E3e; \u201Cn\u00E3o\u201D, repetiu, at\u00E9 "
      "amanh\u00E3.\n",
      "\u6E21\u8239\u4E2D\u5348\u79BB\u5F00\u4E86\u6E2F\u53E3\uFF0C\u7801\u5934\u4E0A\u6CA1\u6709\u4EBA\u6325\u624B"
      "\u3002\u201C\u518D\u89C1\u201D\uFF0C\u4ED6\u8BF4\u3002\n",
      "\u041F\u0430\u0440\u043E\u043C \u0443\u0448\u0451\u043B \u0432 \u043F\u043E\u043B\u0434\u0435\u043D\u044C "
      "\u2014 \u00AB\u043F\u0440\u043E\u0449\u0430\u0439\u00BB.\n",
      "T\u1EA1m bi\u1EC7t, \u00C2u Ch\u00E2u! \u0110\u00F2 r\u1EDDi b\u1EBFn l\u00FAc tr\u01B0a.\n");
  CAPTURE(line);
  CHECK(markup_warning(times(200, line)).empty());
}

TEST_CASE("Markdown with source code, patches and tables get no warning", "[text]") {
  auto const* const line = GENERATE(
      "```cpp\n[[nodiscard]] int f(int& a, int b) { return a&b; }  // [[likely]] [[gnu::pure]]\n```\n",
      "```sh\nif [[ -f $file ]]; then printf '%20s %02d\\n' \"$file\" 5; fi; test \"$a\"==\"$b\"\n```\n",
      "```python\nmatrix = [[1, 2], [3, 4]]; name = 'C:\\\\temp\\\\new'; url='http://a.org/?q=20&id=80'; x = "
      "a+foo+b\n```\n",
      "+import static+method(template+value);\n+  ++count; return +first+second;\n-  old = new + other;\n",
      "\tPR c++/106369\n\t* constexpr.cc (evaluate): Check more.\n",
      "See [the page](https://example.org/a%20page) and [[a note]] of *one* `<b>` tag, \\ref and \\param in Doxygen.\n",
      "20240101 12 34 56 78 90 11\n20240102 13 35 57 79 91 12\n",
      "Heading\n===================================================================\nwords = 5\n",
      "A_CONSTANT_NAME_OF_SEVERAL_WORDS_THAT_IS_LONGER_THAN_SIXTY_CHARACTERS_0\nacgtacgtacgtacgtacgtacgtacgtacgt\n",
      "{{ user.name }} has {{ count }} ''new'' messages: a[[b]] = '''text''' and nothing else in this line.\n");
  CAPTURE(line);
  CHECK(markup_warning(times(100, line)).empty());
}

TEST_CASE("five marks are needed, and a share of the text", "[text]") {
  CHECK(!are_frequent(4, "text", 600));
  CHECK(are_frequent(5, std::string(2999, 'a'), 600));
  CHECK(!are_frequent(5, std::string(3000, 'a'), 600));
  std::string const entity = "&eacute;";
  CHECK(encoding_warning(prose(2900) + times(4, entity)).empty());
  CHECK(!encoding_warning(prose(2800) + times(5, entity)).empty());
  CHECK(encoding_warning(prose(3000) + times(5, entity)).empty());
  CHECK(encoding_warning("").empty());
  CHECK(dump_warning("").empty());
  CHECK(typesetting_warning("").empty());
}

TEST_CASE("English articles and novels get no warning", "[text]") {
  constexpr std::size_t part = std::size_t{1} << 16;
  constexpr int checked_of = 16;  // parts, of which one is checked
  for (std::string const name : {"enwiki", "novels"}) {
    auto const path = (test::shared_data() / "corpus" / (name + ".txt.gz")).string();
    if (!std::filesystem::exists(path))
      SKIP(path << " is not there; BELLWETHER_DATA names the folder that holds corpus");
    TextSource source(path);
    std::string text(part, '\0');
    for (int number = 0;; ++number) {
      std::size_t filled = 0;
      for (std::size_t got = 1; got > 0 && filled < part; filled += got)
        got = source.read(std::span(text).subspan(filled));
      if (filled < part) break;
      if (number % checked_of != 0) continue;
      CAPTURE(name, number);
      CHECK(markup_warning(text).empty());
    }
  }
}
