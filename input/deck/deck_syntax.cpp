// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_syntax.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bellwether::input {
namespace {

constexpr auto npos = std::string_view::npos;

/// What quotes and brackets of a text do, as far as it can be told without parsing it.
struct Openings {
  std::optional<std::size_t> quote, bracket;               ///< the last one that is never closed
  std::vector<std::pair<std::size_t, std::size_t>> lines;  ///< first and last byte of quoted values of several lines
};

/// A quote opens only where a value may begin.
Openings openings_of(std::string_view text) {
  Openings found;
  std::vector<std::size_t> brackets;
  std::size_t opened = npos;
  char quote = 0, before = '\n', value_before = '\n';
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    if (quote != 0) {
      if (quote == '"' && c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
        if (text.substr(opened, at - opened).find('\n') != npos) found.lines.emplace_back(opened, at);
      }
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
  if (quote != 0) found.quote = opened;
  if (!brackets.empty()) found.bracket = brackets.back();
  return found;
}

/// Returns line number `line`, counted from 1; empty if there is none.
std::string_view line_of(std::string_view text, int line) {
  for (; line > 1 && !text.empty(); --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return line < 1 ? std::string_view() : text.substr(0, text.find('\n'));
}

bool is_key_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// Returns the line without a comment. A # in quotes begins none.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (quote != 0)
      quote = line[at] == quote ? '\0' : quote;
    else if (line[at] == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t'))
      return line.substr(0, at);
    else if ((line[at] == '"' || line[at] == '\'') && at > 0 && line[at - 1] == ' ')
      quote = line[at];
  }
  return line;
}

/// Returns true if text follows the quote that closes a value: 'ann's run'.
bool goes_on_after_quote(std::string_view value) {
  auto const end = value.find(value[0], 1);
  if (end == npos || (end + 1 < value.size() && value[end + 1] == value[0])) return false;
  auto const rest = value.find_first_not_of(" \t\r", end + 1);
  return rest != npos && value[rest] != ':' && value[rest] != ',';
}

constexpr auto missing_blank = "type a blank after the colon";

/// Returns the length of a key and its colon at the beginning of `text`, if something follows without a blank; else 0.
std::size_t joined_key(std::string_view text) {
  auto const colon = static_cast<std::size_t>(std::ranges::find_if_not(text, is_key_letter) - text.begin());
  if (colon == 0 || colon + 1 >= text.size() || text[colon] != ':') return 0;
  return std::string_view(" \t\r\n").find(text[colon + 1]) == npos ? colon + 1 : 0;
}

/// Returns where a list, map or quote follows the colon of a key in a map in braces: the bracket of `{train:[a]}`. npos
/// if there is none.
std::size_t joined_in_braces(std::string_view map) {
  for (auto at = map.find_first_of("{,"); at != npos; at = map.find_first_of("{,", at + 1)) {
    auto const key = map.find_first_not_of(" \t", at + 1);
    if (key == npos) return npos;
    auto const length = joined_key(map.substr(key));
    if (length > 0 && std::string_view("[{\"'").find(map[key + length]) != npos) return key + length;
  }
  return npos;
}

/// Returns what is wrong with one line; empty if it has no known slip. is_error: the parser stopped at this line, not
/// at the next one. column: receives the place of the slip, from 1.
std::string slip(std::string_view line, bool is_error, std::size_t& column) {
  line = without_comment(line);
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
  if (value_at == colon + 1) return missing_blank;
  if (value[0] == '{')
    if (auto const joined = joined_in_braces(value); joined != npos) {
      column += joined;
      return missing_blank;
    }
  if (!is_error || std::string_view("[{|>&*!").find(value[0]) != npos) return "";
  if (value[0] == '@' || value[0] == '`' || value[0] == '%')
    return "a value that begins with " + std::string(1, value[0]) + " must be in quotes";
  if (value[0] == '"' && value.find('\\') != npos)
    return "in double quotes a \\ begins an escape; write the value in single quotes";
  bool const quoted = value[0] == '"' || value[0] == '\'';
  if (quoted && goes_on_after_quote(value))
    return "the value goes on after its quote; write a quote within single quotes twice";
  if (!quoted && value.find(": ") != npos) return "a value that holds a colon and a blank must be in quotes";
  return "";
}

}  // namespace

std::optional<Place> unclosed_quote(std::string_view text, TextPlaces const& places) {
  auto const at = openings_of(text).quote;
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
  TextPlaces const places(text);
  auto const place_of = [&](std::size_t byte) {
    auto const place = places.at(byte);
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  };
  auto const openings = openings_of(text);
  if (openings.quote) return "; the quote that opens at " + place_of(*openings.quote) + " is never closed";
  for (auto const& [first, last] : openings.lines)
    if (auto const line = places.at(last).line; line == error.line || line + 1 == error.line)
      return "; the quote that opens at " + place_of(first) + " closes only at " + place_of(last);
  for (int line = error.line; line >= std::max(1, error.line - 1); --line) {
    std::size_t column = 1;
    if (auto const what = slip(line_of(text, line), line == error.line, column); !what.empty())
      return "; at " + std::to_string(line) + ":" + std::to_string(column) + ": " + what;
  }
  if (openings.bracket) return "; the bracket that opens at " + place_of(*openings.bracket) + " is never closed";
  if (error.line > 1) return "; possibly keys that are not indented alike: look at this line and the one above";
  return "";
}

std::string missing_blank_hint(std::string_view scalar, Place begin) {
  auto const length = static_cast<int>(joined_key(scalar));
  if (length == 0) return "";
  return "; at " + std::to_string(begin.line) + ":" + std::to_string(begin.column + length) + ": " + missing_blank;
}

}  // namespace bellwether::input
