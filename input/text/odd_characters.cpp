// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/odd_characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace bellwether::input {
namespace {

struct Known {
  char32_t first, last;
  Oddity kind;
  char const* name;
  char meant = 0;  ///< the ASCII character it resembles; 0: none
};

// Sorted by code.
constexpr auto known = std::to_array<Known>({
    {0x85, 0x85, Oddity::line_break, "next line"},
    {0xA0, 0xA0, Oddity::blank, "no-break space", ' '},
    {0xAB, 0xAB, Oddity::quote, "left double angle quotation mark", '"'},
    {0xAD, 0xAD, Oddity::invisible, "soft hyphen"},
    {0xB4, 0xB4, Oddity::quote, "acute accent", '\''},
    {0xB7, 0xB7, Oddity::sign, "middle dot", '.'},
    {0xBB, 0xBB, Oddity::quote, "right double angle quotation mark", '"'},
    {0x2D0, 0x2D0, Oddity::sign, "modifier letter colon", ':'},
    {0x34F, 0x34F, Oddity::invisible, "combining grapheme joiner"},
    {0x3BF, 0x3BF, Oddity::letter, "Greek small letter omicron", 'o'},
    {0x430, 0x430, Oddity::letter, "Cyrillic small letter a", 'a'},
    {0x435, 0x435, Oddity::letter, "Cyrillic small letter ie", 'e'},
    {0x43E, 0x43E, Oddity::letter, "Cyrillic small letter o", 'o'},
    {0x440, 0x440, Oddity::letter, "Cyrillic small letter er", 'p'},
    {0x441, 0x441, Oddity::letter, "Cyrillic small letter es", 'c'},
    {0x443, 0x443, Oddity::letter, "Cyrillic small letter u", 'y'},
    {0x445, 0x445, Oddity::letter, "Cyrillic small letter ha", 'x'},
    {0x455, 0x455, Oddity::letter, "Cyrillic small letter dze", 's'},
    {0x456, 0x456, Oddity::letter, "Cyrillic small letter i", 'i'},
    {0x458, 0x458, Oddity::letter, "Cyrillic small letter je", 'j'},
    {0x4BB, 0x4BB, Oddity::letter, "Cyrillic small letter shha", 'h'},
    {0x501, 0x501, Oddity::letter, "Cyrillic small letter komi de", 'd'},
    {0x60C, 0x60C, Oddity::sign, "Arabic comma", ','},
    {0x61C, 0x61C, Oddity::invisible, "Arabic letter mark"},
    {0x66B, 0x66B, Oddity::sign, "Arabic decimal separator", '.'},
    {0x115F, 0x1160, Oddity::invisible, "Hangul filler"},
    {0x1680, 0x1680, Oddity::blank, "Ogham space mark", ' '},
    {0x180E, 0x180E, Oddity::invisible, "Mongolian vowel separator"},
    {0x2000, 0x200A, Oddity::blank, "space of another width", ' '},
    {0x200B, 0x200B, Oddity::invisible, "zero width space"},
    {0x200C, 0x200C, Oddity::invisible, "zero width non-joiner"},
    {0x200D, 0x200D, Oddity::invisible, "zero width joiner"},
    {0x200E, 0x200E, Oddity::invisible, "left-to-right mark"},
    {0x200F, 0x200F, Oddity::invisible, "right-to-left mark"},
    {0x2010, 0x2010, Oddity::sign, "hyphen", '-'},
    {0x2011, 0x2011, Oddity::sign, "non-breaking hyphen", '-'},
    {0x2012, 0x2012, Oddity::sign, "figure dash", '-'},
    {0x2013, 0x2013, Oddity::sign, "en dash", '-'},
    {0x2014, 0x2014, Oddity::sign, "em dash", '-'},
    {0x2015, 0x2015, Oddity::sign, "horizontal bar", '-'},
    {0x2018, 0x2018, Oddity::quote, "left single quotation mark", '\''},
    {0x2019, 0x2019, Oddity::quote, "right single quotation mark", '\''},
    {0x201A, 0x201B, Oddity::quote, "single low or reversed quotation mark", '\''},
    {0x201C, 0x201C, Oddity::quote, "left double quotation mark", '"'},
    {0x201D, 0x201D, Oddity::quote, "right double quotation mark", '"'},
    {0x201E, 0x201F, Oddity::quote, "double low or reversed quotation mark", '"'},
    {0x2024, 0x2024, Oddity::sign, "one dot leader", '.'},
    {0x2028, 0x2028, Oddity::line_break, "line separator"},
    {0x2029, 0x2029, Oddity::line_break, "paragraph separator"},
    {0x202A, 0x202E, Oddity::invisible, "direction of writing"},
    {0x202F, 0x202F, Oddity::blank, "narrow no-break space", ' '},
    {0x2032, 0x2032, Oddity::quote, "prime", '\''},
    {0x2033, 0x2033, Oddity::quote, "double prime", '"'},
    {0x205F, 0x205F, Oddity::blank, "medium mathematical space", ' '},
    {0x2060, 0x2060, Oddity::invisible, "word joiner"},
    {0x2061, 0x2064, Oddity::invisible, "invisible operator"},
    {0x2066, 0x206F, Oddity::invisible, "direction of writing"},
    {0x2212, 0x2212, Oddity::sign, "minus sign", '-'},
    {0x2236, 0x2236, Oddity::sign, "ratio", ':'},
    {0x2800, 0x2800, Oddity::blank, "Braille pattern blank", ' '},
    {0x3000, 0x3000, Oddity::blank, "ideographic space", ' '},
    {0x3001, 0x3001, Oddity::sign, "ideographic comma", ','},
    {0x3002, 0x3002, Oddity::sign, "ideographic full stop", '.'},
    {0x3164, 0x3164, Oddity::invisible, "Hangul filler"},
    {0xA789, 0xA789, Oddity::sign, "modifier letter colon", ':'},
    {0xFE00, 0xFE0F, Oddity::invisible, "variation selector"},
    {0xFE50, 0xFE50, Oddity::sign, "small comma", ','},
    {0xFE55, 0xFE55, Oddity::sign, "small colon", ':'},
    {0xFE63, 0xFE63, Oddity::sign, "small hyphen-minus", '-'},
    {0xFEFF, 0xFEFF, Oddity::invisible, "byte order mark, zero width no-break space"},
    {0xFFA0, 0xFFA0, Oddity::invisible, "halfwidth Hangul filler"},
    {0xE0000, 0xE007F, Oddity::invisible, "tag character"},
});

constexpr char32_t first_fullwidth = 0xFF01, last_fullwidth = 0xFF5E;  // fullwidth ! to ~

bool is_fullwidth(char32_t code) { return code >= first_fullwidth && code <= last_fullwidth; }
char narrow(char32_t code) { return static_cast<char>(code - first_fullwidth + '!'); }

Known const* find_known(char32_t code) {
  auto const* const found = std::ranges::upper_bound(known, code, {}, [](Known const& each) { return each.first; });
  return found != known.begin() && code <= (found - 1)->last ? found - 1 : nullptr;
}

std::optional<Oddity> oddity(char32_t code) {
  if (is_fullwidth(code)) return Oddity::sign;
  auto const* const found = find_known(code);
  return found == nullptr ? std::nullopt : std::optional(found->kind);
}

std::string control_name(char32_t code) {
  static constexpr std::array<char const*, 32> names = {"null",
                                                        "start of heading",
                                                        "start of text",
                                                        "end of text",
                                                        "end of transmission",
                                                        "enquiry",
                                                        "acknowledge",
                                                        "bell",
                                                        "backspace",
                                                        "tab",
                                                        "line feed",
                                                        "vertical tab",
                                                        "form feed",
                                                        "carriage return",
                                                        "shift out",
                                                        "shift in",
                                                        "data link escape",
                                                        "device control 1",
                                                        "device control 2",
                                                        "device control 3",
                                                        "device control 4",
                                                        "negative acknowledge",
                                                        "synchronous idle",
                                                        "end of transmission block",
                                                        "cancel",
                                                        "end of medium",
                                                        "substitute",
                                                        "escape",
                                                        "file separator",
                                                        "group separator",
                                                        "record separator",
                                                        "unit separator"};
  return code < names.size() ? names[code] : code == 0x7F ? "delete" : code < 0xA0 ? "control character" : "";
}

std::string code_text(char32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "U+%04X", static_cast<unsigned>(code));
  return text.data();
}

std::string byte_text(char byte) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text.data();
}

constexpr char32_t no_character = 0xFFFFFFFF;

/// Returns the character at `at` and its length in bytes. For a byte that is not UTF-8 it returns no_character and 1.
std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  utf8proc_int32_t code = 0;
  auto const length = utf8proc_iterate(reinterpret_cast<utf8proc_uint8_t const*>(text.data()) + at,
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (length <= 0) return {no_character, 1};
  return {static_cast<char32_t>(code), static_cast<std::size_t>(length)};
}

}  // namespace

std::optional<OddCharacter> find_odd(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    auto const [code, bytes] = character_at(text, at);
    if (auto const kind = oddity(code)) return OddCharacter{at, bytes, code, *kind};
    at += bytes;
  }
  return std::nullopt;
}

std::string character_name(char32_t code) {
  auto const* const found = find_known(code);
  std::string const name = is_fullwidth(code) ? std::string("fullwidth ") + narrow(code)
                           : found != nullptr ? found->name
                                              : control_name(code);
  return code_text(code) + (name.empty() ? "" : " (" + name + ")");
}

std::string odd_advice(char32_t code) {
  auto const* const found = find_known(code);
  char const meant = is_fullwidth(code) ? narrow(code) : found != nullptr ? found->meant : '\0';
  if (found != nullptr && found->kind == Oddity::line_break) return "end the line there";
  if (meant == '\0') return "delete it";
  return meant == ' ' ? "type a space instead" : std::string("type ") + meant + " instead";
}

std::string with_codes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto const [code, bytes] = character_at(text, at);
    auto const kind = code < 0x80 ? std::nullopt : oddity(code);
    bool const hidden = kind && (*kind == Oddity::blank || *kind == Oddity::invisible || *kind == Oddity::line_break);
    if (code == '\n' || code == '\t' || code == '\r')
      out += ' ';
    else if (code == no_character)
      out += byte_text(text[at]);
    else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || hidden)
      out += "<" + code_text(code) + ">";
    else
      out += text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

}  // namespace bellwether::input
