// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_syntax.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

namespace bellwether::input {
namespace {

constexpr auto npos = std::string_view::npos;

/// Finds the quote or bracket that is still open at the end of the text. A quote opens only where a value may begin.
std::optional<std::size_t> still_open(std::string_view text, bool quotes) {
  std::vector<std::size_t> brackets;
  std::size_t opened = npos;
  char quote = 0, before = '\n', value_before = '\n';
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    if (quote != 0) {
      if (quote == '"' && c == '\\')
        ++at;
      else if (c == quote)
        quote = 0;
    } else if (c == '#' && (before == ' ' || before == '\t' || before == '\n')) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if ((c == '"' || c == '\'') && std::string_view("\n:[{,-?").find(value_before) != npos) {
      quote = c;
      opened = at;
    } else if (c == '[' || c == '{') {
      brackets.push_back(at);
    } else if ((c == ']' || c == '}') && !brackets.empty()) {
      brackets.pop_back();
    }
    before = c;
    if (c != ' ' && c != '\t' && c != '\r') value_before = c;
  }
  if (quotes) return quote != 0 ? std::optional(opened) : std::nullopt;
  return quote == 0 && !brackets.empty() ? std::optional(brackets.back()) : std::nullopt;
}

/// Returns line number `line`, counted from 1; empty if there is none.
std::string_view line_of(std::string_view text, int line) {
  for (; line > 1 && !text.empty(); --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return line < 1 ? std::string_view() : text.substr(0, text.find('\n'));
}

bool is_key_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// Returns what is wrong with one line; empty if it has no known slip. column: where the line goes wrong, from 1.
std::string slip(std::string_view line, std::size_t& column) {
  auto const first = line.find_first_not_of(' ');
  if (first == npos || line[first] == '#') return "";
  auto rest = line.substr(first);
  if (rest.size() > 1 && rest[0] == '-' && rest[1] != ' ' && rest[1] != '-') {
    column = first + 2;
    return "type a blank after the -";
  }
  auto const colon = rest.find(':');
  if (colon == npos || colon == 0 || !std::ranges::all_of(rest.substr(0, colon), is_key_letter)) return "";
  auto const value_at = rest.find_first_not_of(" \t\r", colon + 1);
  if (value_at == npos) return "";
  auto const value = rest.substr(value_at);
  column = first + value_at + 1;
  if (value_at == colon + 1) return "type a blank after the colon";
  if (value[0] == '@' || value[0] == '`' || value[0] == '%')
    return "a value that begins with " + std::string(1, value[0]) + " must be in quotes";
  if (value[0] == '"' && value.find('\\') != npos)
    return "in double quotes a \\ begins an escape; write the value in single quotes";
  if (value[0] != '"' && value[0] != '\'' && value.find(": ") != npos)
    return "a value that holds a colon and a blank must be in quotes";
  return "";
}

}  // namespace

std::optional<Place> unclosed_quote(std::string_view text, TextPlaces const& places) {
  auto const at = still_open(text, true);
  if (!at) return std::nullopt;
  // A quote in the middle of a plain value opens nothing. Then a key at the end of the document is a key.
  constexpr auto probe = "key_at_the_end";
  try {
    auto const root = YAML::Load(std::string(text) + "\n" + probe + ": 1\n");
    if (!root.IsMap() || root[probe]) return std::nullopt;
  } catch (YAML::Exception const&) {
    return std::nullopt;
  }
  return places.at(*at);
}

std::string syntax_hint(std::string_view text, Place error) {
  auto const place = [](int line, std::size_t column) { return std::to_string(line) + ":" + std::to_string(column); };
  for (int line = error.line; line >= std::max(1, error.line - 1); --line) {
    std::size_t column = 1;
    if (auto const what = slip(line_of(text, line), column); !what.empty())
      return "; at " + place(line, column) + ": " + what;
  }
  if (auto const at = still_open(text, false)) {
    auto const before = text.substr(0, *at);
    auto const line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
    auto const begin = before.rfind('\n');
    return "; the bracket that opens at " + place(line, before.size() - (begin == npos ? 0 : begin + 1) + 1) +
           " is never closed";
  }
  if (error.line > 1) return "; keys of a section must be indented alike: look at this line and the one above";
  return "";
}

}  // namespace bellwether::input
