// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// SQL dumps, man pages and BBCode, and texts that only look like them.
#include "input/text/rare_markup.hpp"
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

std::string prose(int lines) { return times(lines, "The ferry left the harbour at noon, and nobody waved to it.\n"); }

}  // namespace

TEST_CASE("SQL dumps, man pages and BBCode get a warning", "[text]") {
  auto const marked = GENERATE(
      Marked{"INSERT INTO posts VALUES (1,'The ferry left.'),(2,'Nobody waved.');\n", "looks like an SQL dump"},
      Marked{"insert into `posts` (`id`, `body`) values (1, 'The ferry left.');\r\n", "looks like an SQL dump"},
      Marked{"INSERT INTO posts (id, body) VALUES\n" + times(20, "  (1, 'The ferry left.'),\n") + "  (2, 'No.');\n",
             "looks like an SQL dump"},
      Marked{".SH NAME\nferry \\- leaves the harbour\n.PP\nThe\n.B ferry\nleft the harbour.\n", "looks like roff"},
      Marked{".Sh NAME\n.Nm ferry\n.Nd leaves the harbour\r\n.Pp\nIt leaves at noon.\n", "looks like roff"},
      Marked{"The [b]ferry[/b] left the [url=https://example.org/]harbour[/url].\n", "looks like BBCode"},
      Marked{"[QUOTE=anna]The ferry left.[/QUOTE]\nNobody waved.\n", "looks like BBCode"});
  CAPTURE(marked.line);
  CHECK_THAT(markup_warning(times(30, marked.line)), StartsWith(marked.warning));
  CHECK_THAT(markup_warning("A heading\n\n" + times(30, marked.line)), StartsWith(marked.warning));
  // A text about markup has a little of it.
  CHECK(rare_markup_warning(prose(200) + marked.line + prose(200)).empty());
}

TEST_CASE("prose, source code and lists are no SQL, roff or BBCode", "[text]") {
  auto const* const line = GENERATE(
      "Insert into the slot a coin; the values are printed.\nReplace into the box what you took.\n",
      "cursor.execute(\"INSERT INTO posts VALUES (?, ?)\", (1, 'a'))\nrows = [\n    (1, 'a'),\n    (2, 'b'),\n]\n",
      ".text\n.globl main\n.section .rodata\n.B1:\n\tret\n...\n.5 of it\n",
      ".br { color: red; }\n.b { float: left }\n.row > .item { margin: 0 }\n",
      "[verse]\nThe ferry left [b] at noon [1], a[i] = b[u];\n[chorus]\n",
      "[/home]\npath = list[i]\n[code]\nx[b][i] = matrix[u]\n",
      "The tags `[b]` and `[/b]` of BBCode, in Markdown, and [a link](https://example.org/).\n");
  CAPTURE(line);
  CHECK(rare_markup_warning(times(100, line)).empty());
  CHECK(rare_markup_warning("").empty());
}
