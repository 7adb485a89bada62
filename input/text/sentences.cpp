// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/sentences.hpp"

#include "input/text/unicode.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace bellwether::input {
namespace {

using namespace std::string_view_literals;

enum class Mark : std::uint8_t { none, spaced, unspaced };

struct MarkText {
  std::string_view text;
  Mark kind;
};

/// Marks that end sentences. Unspaced ones need no white space after them.
constexpr MarkText marks[] = {
    {"."sv, Mark::spaced},
    {"!"sv, Mark::spaced},
    {"?"sv, Mark::spaced},
    {"\u061F"sv, Mark::spaced},
    {"\u06D4"sv, Mark::spaced},  // Arabic question mark, Urdu full stop
    {"\u0964"sv, Mark::spaced},
    {"\u0965"sv, Mark::spaced},  // danda, double danda
    {"\u1362"sv, Mark::spaced},
    {"\u1367"sv, Mark::spaced},  // Ethiopic full stop, question mark
    {"\u203C"sv, Mark::spaced},
    {"\u2047"sv, Mark::spaced},
    {"\u2048"sv, Mark::spaced},
    {"\u2049"sv, Mark::spaced},
    {"\u3002"sv, Mark::unspaced},
    {"\uFF61"sv, Mark::unspaced},  // ideographic full stops
    {"\u0589"sv, Mark::spaced},
    {"\u104B"sv, Mark::unspaced},  // Armenian, Burmese
    {"\u17D4"sv, Mark::unspaced},
    {"\u0DF4"sv, Mark::spaced},
    {"\u1803"sv, Mark::spaced},  // Khmer, Sinhala,
                                 // Mongolian
    {"\u0F0D"sv, Mark::spaced},
    {"\uFF0E"sv, Mark::unspaced},  // Tibetan; full-width full stop
    {"\uFF01"sv, Mark::unspaced},
    {"\uFF1F"sv, Mark::unspaced},  // full-width exclamation and question marks
};

constexpr std::string_view closers[] = {
    "\""sv,     "'"sv,      ")"sv,      "]"sv,      "\u201D"sv, "\u2019"sv, "\u00BB"sv,
    "\u300D"sv, "\u300F"sv, "\uFF09"sv, "\u3011"sv, "\u300B"sv, "\u3009"sv, "\u3015"sv,
};

/// Marks the bytes with which a mark can begin.
constexpr std::array<bool, 256> first_bytes() {
  std::array<bool, 256> found{};
  for (auto const& mark : marks) found[static_cast<unsigned char>(mark.text[0])] = true;
  return found;
}
constexpr auto begins_mark = first_bytes();

MarkText mark_at(std::string_view text) {
  if (text.empty() || !begins_mark[static_cast<unsigned char>(text[0])]) return {"", Mark::none};
  for (auto const& mark : marks)
    if (text.starts_with(mark.text)) return mark;
  return {"", Mark::none};
}

/// Returns the length of the closing quotes and brackets at the beginning of `text`.
std::size_t closing(std::string_view text) {
  std::size_t at = 0;
  for (bool closed = true; closed;) {
    closed = false;
    for (auto const closer : closers)
      if (text.substr(at).starts_with(closer)) {
        at += closer.size();
        closed = true;
      }
  }
  return at;
}

/// Returns the length of the white space at the beginning of `text`.
std::size_t space(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size(); end = at)
    if (!is_white_space(decode_utf8(text, at))) break;
  return end;
}

bool is_initial(std::string_view text, std::size_t begin, std::size_t mark) {
  return text[mark] == '.' && mark > begin && text[mark - 1] >= 'A' && text[mark - 1] <= 'Z' &&
         (mark - 1 == begin || text[mark - 2] == ' ' || text[mark - 2] == '.');
}

}  // namespace

std::size_t sentence_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size();) {
    if (!begins_mark[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    std::size_t const first = at;
    bool unspaced = false;
    for (auto mark = mark_at(text.substr(at)); mark.kind != Mark::none; mark = mark_at(text.substr(at))) {
      at += mark.text.size();
      unspaced = unspaced || mark.kind == Mark::unspaced;
    }
    if (at == first) {  // another character with the same first byte
      ++at;
      continue;
    }
    at += closing(text.substr(at));
    std::size_t const next = at + space(text.substr(at));
    if (next == text.size()) break;
    if (unspaced) return at;
    bool const small_follows = text[next] >= 'a' && text[next] <= 'z';
    if (next > at && !small_follows && !is_initial(text, begin, first)) return at;
  }
  return text.size();
}

}  // namespace bellwether::input
