// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_characters.hpp"

#include "input/files/yaml_document.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <optional>

namespace bellwether::input {
namespace {

constexpr std::size_t most_odd_places = 8;  // per scalar; a message names only one

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::string place_text(Place place) { return std::to_string(place.line) + ":" + std::to_string(place.column); }

bool is_utf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
         (text.size() > 3 && ((text[0] == 0 && text[2] == 0) || (text[1] == 0 && text[3] == 0)));
}

/// Finds odd characters and tabs that indent a line, outside comments and quotes. A quote counts only where a scalar
/// may begin.
std::vector<OddCharacter> suspects(std::string_view text) {
  std::vector<OddCharacter> found;
  bool indentation = true, comment = false;
  char quote = 0, before = '\n';
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    if (c == '\n') {
      indentation = true;
      comment = false;
    } else if (quote != 0) {
      if (quote == '"' && c == '\\')
        ++at;
      else if (c == quote)
        quote = 0;
    } else if (c == '\t' && indentation) {
      found.push_back({at, 1, U'\t', Oddity::blank});
    } else if (c != ' ' && !comment) {
      indentation = false;
      comment = c == '#' && std::string_view(" \t\n").find(before) != std::string_view::npos;
      bool const opens = std::string_view(" \t\n[{,:").find(before) != std::string_view::npos;
      if (opens && (c == '"' || c == '\'')) quote = c;
      if (auto const odd = static_cast<unsigned char>(c) < 0x80 ? std::nullopt : find_odd(text.substr(0, at + 4), at);
          odd && odd->at == at && odd->kind != Oddity::letter)
        found.push_back(*odd);
    }
    before = c;
  }
  return found;
}

}  // namespace

TextPlaces::TextPlaces(std::string_view text) : size_(text.size()), line_starts_{0} {
  for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) line_starts_.push_back(at + 1);
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return;
  std::uint32_t count = 0;
  for (char const c : text) {
    characters_.push_back(count);
    count += begins_character(c) ? 1 : 0;
  }
  characters_.push_back(count);
}

Place TextPlaces::at(std::size_t byte) const {
  auto const at = std::min(byte, size_);
  auto const line = std::upper_bound(line_starts_.begin(), line_starts_.end(), at) - 1;
  auto const column = characters_.empty() ? at - *line : characters_[at] - characters_[*line];
  return {static_cast<int>(line - line_starts_.begin()) + 1, static_cast<int>(column) + 1};
}

std::size_t TextPlaces::byte(int line, int column) const {
  auto const last = static_cast<int>(line_starts_.size()) - 1;
  return line_starts_[static_cast<std::size_t>(std::clamp(line, 0, last))] +
         static_cast<std::size_t>(std::max(column, 0));
}

bool readable(std::string_view text, std::vector<SyntaxFault>& faults) {
  auto const refuse = [&](Place place, std::string const& what) {
    faults.push_back({place, what});
    return false;
  };
  if (text.size() > largest_document) return refuse({1, 1}, "larger than 1 MiB; allowed: up to 1 MiB");
  if (is_utf16(text)) return refuse({1, 1}, "text in UTF-16; allowed: UTF-8");
  Place place{1, 1};
  auto const* bytes = reinterpret_cast<utf8proc_uint8_t const*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    auto const length = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (length <= 0) return refuse(place, "a byte that is not UTF-8; allowed: UTF-8");
    auto const next = at + static_cast<std::size_t>(length);
    bool const ends_line = code == '\n' || (code == '\r' && next < text.size() && text[next] == '\n');
    auto const name = character_name(static_cast<char32_t>(code));
    if (code == '\r' && !ends_line)
      return refuse(place, name + " without a line feed after it; end lines with a line feed, and delete it elsewhere");
    bool const control = (code < 0x20 && code != '\t' && !ends_line) || (code >= 0x7F && code < 0xA0);
    if (control) return refuse(place, "control character " + name + "; delete it");
    place = code == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
    at = next;
  }
  return true;
}

std::vector<OddPlace> odd_places(std::string_view scalar, std::string_view text, std::size_t begin,
                                 TextPlaces const& places) {
  std::vector<OddPlace> found;
  for (auto odd = find_odd(scalar); odd && found.size() < most_odd_places;
       odd = find_odd(scalar, odd->at + odd->bytes)) {
    // The scalar's line ends may have become spaces. Its other characters appear in the text in the same order.
    begin = text.find(scalar.substr(odd->at, odd->bytes), begin);
    if (begin == text.npos) break;
    found.push_back({odd->code, odd->kind, places.at(begin)});
    begin += odd->bytes;
  }
  return found;
}

std::string likely_cause(std::string_view text, TextPlaces const& places, Place error, bool anywhere) {
  std::optional<OddPlace> cause;
  for (auto const& each : suspects(text)) {
    OddPlace const here{each.code, each.kind, places.at(each.at)};
    bool const near = here.place.line == error.line || here.place.line + 1 == error.line;
    if (near || (anywhere && !cause)) cause = here;
  }
  if (!cause) return "";
  if (cause->code == U'\t')
    return "; " + character_name(U'\t') + " at " + place_text(cause->place) + " indents the line: type spaces instead";
  return "; " + described(*cause, false);
}

std::string described(OddPlace const& odd, bool in_override) {
  return character_name(odd.code) +
         (in_override ? " as character " + std::to_string(odd.place.column) + " of the value"
                      : " at " + place_text(odd.place)) +
         ": " + odd_advice(odd.code);
}

}  // namespace bellwether::input
