// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/unicode.hpp"

#include "core/system/error.hpp"
#include "input/text/unicode_exceptions.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <span>

namespace bellwether::input {

namespace {

constexpr char32_t code_points = 0x110000;

bool is_in(std::span<reference::CodeRange const> ranges, char32_t c) {
  auto const after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](char32_t code, reference::CodeRange const& range) { return code < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

/// The blocks that BERT surrounds with spaces (google-research/bert, tokenization.py). Like the reference, this begins
/// Extension E at 2B920 instead of 2B820.
bool is_cjk_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

/// BERT counts every ASCII character that is not a letter, digit, space or control as punctuation, also $ + < = >.
bool is_ascii_symbol(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

bool is_private_use(char32_t c) {
  return (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xF0000 && c <= 0xFFFFD) || (c >= 0x100000 && c <= 0x10FFFD);
}

/// Counts a mark that is stripped.
void count_mark(char32_t c, CharacterCounts& counts) {
  bool const selects_glyph = (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
  if (selects_glyph) return;  // a variation selector, as after an emoji: no word changes
  ++(c >= 0x300 && c <= 0x36F ? counts.accents : counts.signs);
}

/// Counts a character that the clean-up removes. bytes: how the text holds it. A fault of UTF-8 is U+FFFD, too, but has
/// other bytes; it is reported with its line elsewhere.
void count_removed(char32_t c, std::string_view bytes, bool in_word, CharacterCounts& counts) {
  constexpr char32_t zero_width_space = 0x200B, zero_width_non_joiner = 0x200C;
  if (is_private_use(c) || (c == replacement_character && bytes == "\xEF\xBF\xBD")) ++counts.unreadable;
  if (in_word && (c == zero_width_space || c == zero_width_non_joiner)) ++counts.separators;
}

}  // namespace

CharacterCounts& CharacterCounts::operator+=(CharacterCounts const& other) {
  letters += other.letters;
  accents += other.accents;
  signs += other.signs;
  unreadable += other.unreadable;
  separators += other.separators;
  return *this;
}

char32_t decode_utf8(std::string_view text, std::size_t& position) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned const first = byte(position++);
  if (first < 0x80) return first;
  int more = 0;
  unsigned low = 0x80, high = 0xBF;  // allowed second bytes
  char32_t code = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    more = 1;
    code = first & 0x1F;
  } else if (first >= 0xE0 && first <= 0xEF) {
    more = 2;
    code = first & 0x0F;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    more = 3;
    code = first & 0x07;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return replacement_character;
  }
  for (; more > 0; --more) {
    if (position >= text.size() || byte(position) < low || byte(position) > high) return replacement_character;
    code = (code << 6) | (byte(position++) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return code;
}

void append_utf8(std::string& text, char32_t code) {
  utf8proc_uint8_t bytes[4];
  auto const count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text.append(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(count));
}

std::size_t count_code_points(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    // Skip eight ASCII characters at a time.
    std::uint64_t word = 0;
    if (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        at += sizeof word;
        continue;
      }
    }
    std::size_t const begin = at;
    // A U+FFFD in the text takes three bytes; a shorter one stands for a fault.
    if (decode_utf8(text, at) == replacement_character && text.substr(begin, at - begin) != "\xEF\xBF\xBD")
      return false;
  }
  return true;
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_invisible(char32_t c) {
  if (is_white_space(c)) return true;
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF;
}

bool is_letter(char32_t c) {
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME;
}

bool is_small(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LL; }

bool is_capital(char32_t c) {
  auto const code = static_cast<utf8proc_int32_t>(c);
  return utf8proc_tolower(code) != code;
}

bool is_accented(char32_t c) {
  if (c < 0xC0) return false;
  if (utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN) return true;
  utf8proc_int32_t parts[16];
  int boundary = 0;
  auto const count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, std::size(parts), UTF8PROC_DECOMPOSE, &boundary);
  if (count < 2) return false;
  return std::any_of(parts, parts + std::min<utf8proc_ssize_t>(count, std::ssize(parts)),
                     [](auto part) { return utf8proc_category(part) == UTF8PROC_CATEGORY_MN; });
}

BertCharacters::BertCharacters() : traits_(code_points, 0) {
  for (char32_t c = 0; c < code_points; ++c) {
    auto const code = static_cast<utf8proc_int32_t>(c);
    auto const category = utf8proc_category(code);
    unsigned traits = 0;
    bool const blank = c == '\t' || c == '\n' || c == '\r' || category == UTF8PROC_CATEGORY_ZS ||
                       category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
    bool const other = category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
                       category == UTF8PROC_CATEGORY_CO || category == UTF8PROC_CATEGORY_CS;
    if (blank) traits |= space;
    if ((other && !blank && !is_in(reference::kept, c)) || c == replacement_character) traits |= removed;
    if (is_cjk_ideograph(c)) traits |= ideograph;
    if ((category == UTF8PROC_CATEGORY_MN && !is_in(reference::not_marks, c)) || is_in(reference::marks, c))
      traits |= mark;
    if (is_letter(c)) traits |= letter;
    bool const punctuates = category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
    if (is_ascii_symbol(c) || (punctuates && !is_in(reference::not_punctuation, c)) || is_in(reference::punctuation, c))
      traits |= punctuation;
    std::vector<char32_t> parts;
    decompose(c, parts);
    if (parts.size() != 1 || parts[0] != c || combining_class(c) != 0 || lower(c) != c) traits |= changes;
    traits_[c] = static_cast<std::uint8_t>(traits);
  }
}

bool BertCharacters::is_newer(char32_t c) const { return is_in(reference::not_decomposed, c); }

void BertCharacters::decompose(char32_t c, std::vector<char32_t>& out) const {
  if (c < 0x80 || is_newer(c)) {
    out.push_back(c);
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;
  int last_boundclass = 0;
  auto const count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
                                             UTF8PROC_DECOMPOSE, &last_boundclass);
  if (count < 0) {  // a surrogate: decode_utf8 never gives one
    out.push_back(c);
    return;
  }
  require(static_cast<std::size_t>(count) <= parts.size(), "no code point decomposes into more than 32");
  for (int i = 0; i < count; ++i) out.push_back(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]));
}

std::uint8_t BertCharacters::combining_class(char32_t c) const {
  auto const combining = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
  return combining != 0 && is_newer(c) ? 0 : static_cast<std::uint8_t>(combining);
}

char32_t BertCharacters::lower(char32_t c) const {
  auto const* const found = std::lower_bound(std::begin(reference::lowered), std::end(reference::lowered), c,
                                             [](auto const& mapping, char32_t code) { return mapping.from < code; });
  if (found != std::end(reference::lowered) && found->from == c) return found->to;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

void BertCharacters::normalise(std::string_view text, std::string& words, CharacterCounts* counts) const {
  struct Held {
    char32_t code;
    std::uint8_t combining;
  };
  std::vector<Held> held;  // non-starters of one run, waiting for canonical order
  std::vector<char32_t> parts;
  CharacterCounts seen;
  bool in_word = false;
  auto const separate = [&] {
    if (!words.empty() && words.back() != ' ') words.push_back(' ');
    in_word = false;
  };
  auto const emit = [&](char32_t c) {
    auto const traits = traits_[c];
    if ((traits & mark) != 0) {
      count_mark(c, seen);
      return;
    }
    if ((traits & letter) != 0) ++seen.letters;
    if ((traits & space) != 0) return separate();
    if ((traits & punctuation) != 0) {
      separate();
      append_utf8(words, c);
      return separate();
    }
    if (!in_word && !words.empty() && words.back() != ' ') words.push_back(' ');
    in_word = true;
    append_utf8(words, (traits & changes) != 0 ? lower(c) : c);
  };
  auto const release = [&] {
    if (held.size() > 1)
      std::stable_sort(held.begin(), held.end(),
                       [](Held const& a, Held const& b) { return a.combining < b.combining; });
    for (auto const& h : held) emit(h.code);
    held.clear();
  };
  auto const order = [&](char32_t c) {
    if (auto const combining = combining_class(c); combining != 0) {
      held.push_back({c, combining});
      return;
    }
    if (!held.empty()) release();
    emit(c);
  };

  separate();
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const begin = at;
    char32_t const c = decode_utf8(text, at);
    auto const traits = traits_[c];
    if ((traits & removed) != 0) {
      count_removed(c, text.substr(begin, at - begin), in_word, seen);
      continue;
    }
    bool const spaced = (traits & ideograph) != 0;
    if (spaced) order(U' ');
    if ((traits & changes) == 0) {
      if (!held.empty()) release();
      emit(c);
    } else {
      parts.clear();
      decompose(c, parts);
      for (char32_t const part : parts) order(part);
    }
    if (spaced) order(U' ');
  }
  release();
  while (!words.empty() && words.back() == ' ') words.pop_back();
  if (counts != nullptr) *counts += seen;
}

}  // namespace bellwether::input
