// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Markup and data formats, recognised by their share of a text, and texts that only look like them.
#include "input/text/structured_text.hpp"
#include "input/text/text_kind.hpp"
#include "tests/input/text/times.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

using namespace bellwether::input;
using Catch::Matchers::StartsWith;

namespace {

struct Marked {
  std::string line, warning;
};

}  // namespace

TEST_CASE("markup and tables get a warning after any first line", "[text]") {
  auto const marked = GENERATE(
      Marked{"<p>The ferry left the harbour at noon.</p>\n", "looks like HTML or XML"},
      Marked{"The ferry left.<br /><br />Nobody waved.\n", "looks like HTML or XML"},
      Marked{"<P>The ferry left the harbour at noon.\n", "looks like HTML or XML"},
      Marked{"<s n='1'><w pos=\"DET\">The</w> <w pos=\"N\">ferry</w></s>\r\n", "looks like HTML or XML"},
      Marked{"<doc id=\"7\" title=\"Ferry\">\n" + times(40, "The ferry left the harbour at noon again.\n") + "</doc>\n",
             "looks like HTML or XML"},
      Marked{"{\"text\": \"The ferry left.\", \"id\": 1}\n", "looks like JSON"},
      Marked{"  {\"text\": \"The ferry left.\"},\r\n", "looks like JSON"},
      Marked{"{'text': 'The ferry left.'}\n", "looks like JSON"},
      Marked{"[\"The ferry left.\", \"Nobody waved.\"]\n", "looks like JSON"},
      Marked{"\"The ferry \\\"Anna\\\" left.\"\n", "looks like JSON"},
      Marked{"{\n  \"id\": 1,\n  \"text\": \"The ferry left.\"\n},\n", "looks like JSON"},
      Marked{times(5, "The ferry left.\\nThey said \\\"no\\\".\\n\\n") + "\n", "holds escapes"},
      Marked{"17\tThe ferry left the harbour, at noon.\tnews\n", "looks like a table"},
      Marked{"17\t\tThe ferry left.\t\n", "looks like a table"},
      Marked{"The ferry left the harbour, at noon.\t1\n", "looks like a table"},
      Marked{"news\tThe ferry left the harbour, at noon.\n", "looks like a table"},
      Marked{"\"The ferry left, and nobody said \"\"no\"\".\",positive\n", "looks like a table"},
      Marked{"0,\"The ferry left, at noon.\"\n", "looks like a table"},
      Marked{"__label__2 The ferry left the harbour.\n", "looks like a table"},
      Marked{"17,\"The ferry left, and nobody said \"\"no\"\".\",news\n", "looks like a table"},
      Marked{"17;\"The ferry left.\nIt was noon; nobody waved.\";news\n", "looks like a table"});
  CAPTURE(marked.line);
  CHECK_THAT(markup_warning(times(30, marked.line)), StartsWith(marked.warning));
  if (marked.line[0] != '"')  // lines of speech alone are in novels, too
    CHECK_THAT(markup_warning("A heading\n\n" + times(30, marked.line)), StartsWith(marked.warning));
}

TEST_CASE("a header makes a table of lines without quotes", "[text]") {
  std::string const lines = times(20, "17,The ferry left,news\n18,Nobody waved,news\n");
  CHECK_THAT(table_warning("id,text,label\n" + lines), StartsWith("looks like a table"));
  CHECK_THAT(table_warning("id,\"text\",label\r\n" + lines), StartsWith("looks like a table"));
  CHECK(table_warning("red,green,blue\n" + times(50, "The ferry, which left at noon, was late, they said.\n")).empty());
}

TEST_CASE("objects after prose are recognised from a tenth of the text on", "[text]") {
  std::string const prose = times(100, "The ferry left the harbour at noon.\n"),
                    line = "{\"text\": \"Nobody waved.\"}\n";
  CHECK_THAT(json_warning(prose + times(30, line)), StartsWith("looks like JSON"));
  CHECK(json_warning(prose + times(10, line)).empty());
}

TEST_CASE("prose, chats, Markdown and source code are no markup and no tables", "[text]") {
  auto const* const line =
      GENERATE("\"Yes,\" she said, \"the ferry left at noon, I think.\"\n\"No.\"\nHe waved, turned, and left.\n",
               "If a < b and b > c, then a <- b; 3 < 5, 7 > 2, <3 and <john@example.org> or <https://example.org/a>.\n",
               "<anna> the ferry left, did it?\n<ben> yes, at noon, with <charlie>\n",
               "[12:05, 1/2/2026] Anna: the ferry left\n[1] A note.\n[verse]\n",
               "#include <string>\n#include <sys/stat.h>\nstd::vector<int> f(std::map<int, std::string> const& a);\n",
               "\tif (a)\n\t\treturn \"one\\ntwo\\n\" + \"say \\\"no\\\"\";\n\tint\t\ta;\t// left\n",
               "The `<b>`, `</b>` and `<br />` tags of HTML, and `{\"a\": 1}` of JSON, in Markdown.\n",
               "| a | b | c |\n|---|---|---|\n| 1, 2, 3 | \"x\", \"y\" | z |\n",
               "printf(\"%s,%d,%d\\n\", name, 1, 2);\nnames = [\"a\", \"b\"]\nd = {\"a\": 1}\n",
               "C:\\new\\names and $\\nu$, G\\\"odel and {\\\"u}ber, in a long line that goes on and on, longer than "
               "any line of source "
               "code is, so that its escapes would count if they were such.\n",
               "\u300C\u518D\u89C1\u300D\uFF0C\u4ED6\u8BF4\uFF0C\u6E21\u8239\u5F00\u4E86\u3002\n",
               "Die F\u00E4hre, die um zw\u00F6lf fuhr, war, wie man sagte, \u201Ezu sp\u00E4t\u201C, \"leider\".\n",
               "1, 2, 3\n4, 5\nOne, two, three, four.\nred, green, blue\n");
  CAPTURE(line);
  CHECK(later_markup_warning(times(100, line)).empty());
}

TEST_CASE("a few tags in prose, and one comment before it, are no markup", "[text]") {
  std::string const prose = times(100, "The ferry left the harbour at noon.\n");
  CHECK(markup_warning("<!-- made by hand -->\n" + prose).empty());
  CHECK(markup_warning("<p align=\"center\"><b>Ferry</b></p>\n" + prose).empty());
  CHECK_THAT(markup_warning("<!-- made by hand -->\n<html>\n" + prose), StartsWith("looks like HTML or XML"));
  for (auto const detect : {json_warning, tag_warning, escape_warning, table_warning}) CHECK(detect("").empty());
}
