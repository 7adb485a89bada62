// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/rare_markup.hpp"

#include "input/text/encoded_text.hpp"
#include "input/text/text_lines.hpp"

#include <algorithm>
#include <cstddef>

namespace bellwether::input {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Returns true if `text` begins with `word`, which is in small letters, in any case.
bool begins_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::ranges::equal(text.substr(0, word.size()), word, {}, lower);
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Detects `INSERT INTO name ... VALUES (`, also if the rows begin on the next line. In prose no bracket follows.
bool is_insert(std::string_view line) {
  constexpr std::size_t longest = 2048;
  constexpr std::string_view word = "values";
  bool const begins = begins_with(line, "insert into ") || begins_with(line, "insert ignore into ") ||
                      begins_with(line, "replace into ");
  if (!begins) return false;
  auto const found = std::ranges::search(line.substr(0, longest), word, {}, lower);
  if (found.empty()) return false;
  auto const rest = line.substr(static_cast<std::size_t>(found.end() - line.begin()));
  auto const next = rest.find_first_not_of(" \t");
  return next == rest.npos || rest[next] == '(';
}

/// Detects a row of values on its own line: `(1, 'text'),`.
bool is_row(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with('(') && (line.ends_with("),") || line.ends_with(");"));
}

/// Source code has rows alone. A part of a dump that begins inside a statement is recognised from the next one on.
bool is_sql(std::string_view text) {
  constexpr std::size_t few = 5;
  std::size_t inserts = 0, rows = 0, bytes = 0;
  for_each_line(text, [&](std::string_view line) {
    bool const insert = is_insert(line);
    if (!insert && (inserts == 0 || !is_row(line))) return;
    inserts += insert ? 1 : 0;
    rows += 1 + count_of(line, "),(");
    bytes += line.size();
  });
  return rows >= few && 3 * bytes > text.size();
}

/// Counts lines with a macro of man pages (`.SH`) or of mdoc (`.Sh`). Directives of an assembler have other names.
bool is_roff(std::string_view text) {
  constexpr std::size_t bytes_a_macro = 300;
  constexpr std::string_view headings[] = {"TH", "SH", "SS", "Dd", "Dt", "Sh", "Ss"};
  constexpr std::string_view macros[] = {"PP", "TP", "IP", "RS", "RE", "B",  "BR", "BI", "I",  "IR",
                                         "RB", "RI", "br", "sp", "nf", "fi", "ie", "el", "Pp", "Nm",
                                         "Op", "Fl", "Ar", "It", "Bl", "El", "Xr", "Os", "Nd"};
  std::size_t headed = 0, others = 0;
  for_each_line(text, [&](std::string_view line) {
    if (!line.starts_with('.')) return;
    auto const name = line.substr(1, line.find_first_of(" \t") - 1);
    headed += static_cast<std::size_t>(std::ranges::count(headings, name));
    others += static_cast<std::size_t>(std::ranges::count(macros, name));
  });
  return headed > 0 && are_frequent(headed + others, text, bytes_a_macro);
}

/// Counts pairs of an opening and a closing tag. Songs have `[verse]`, notes `[b]`; both have no closing tags.
bool is_bbcode(std::string_view text) {
  constexpr std::size_t bytes_a_pair = 600, longest = 8;
  constexpr std::string_view names[] = {"b",    "i",    "u",     "url",    "img",  "quote", "code",
                                        "size", "list", "color", "center", "font", "email", "spoiler"};
  std::size_t opened = 0, closed = 0;
  for (auto at = text.find('['); at != text.npos; at = text.find('[', at + 1)) {
    if (at > 0 && text[at - 1] == '`') continue;  // source code in Markdown
    auto rest = text.substr(at + 1, longest + 1);
    bool const closes = rest.starts_with('/');
    if (closes) rest.remove_prefix(1);
    auto const end = rest.find_first_of(closes ? "]" : "]=");
    auto const name = rest.substr(0, end);
    bool const known = end != rest.npos && std::ranges::any_of(names, [&](std::string_view one) {
                         return name.size() == one.size() && begins_with(name, one);
                       });
    (closes ? closed : opened) += known ? 1 : 0;
  }
  return are_frequent(std::min(opened, closed), text, bytes_a_pair);
}

}  // namespace

std::string rare_markup_warning(std::string_view text) {
  if (is_sql(text))
    return "looks like an SQL dump: statements and all columns become text to train on; load it into a database, and "
           "extract the column of the text";
  if (is_roff(text))
    return "looks like roff, as man pages are written in: macros such as .SH become words to train on; extract the "
           "text "
           "first, as `man -l FILE | col -b` does";
  if (is_bbcode(text))
    return "looks like BBCode: tags such as [b] become words to train on; remove them: sed -E "
           "'s:\\[/?[A-Za-z]+(=[^]]*)?\\]::g' FILE";
  return "";
}

}  // namespace bellwether::input
