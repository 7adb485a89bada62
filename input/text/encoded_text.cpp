// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/encoded_text.hpp"

#include "input/text/text_lines.hpp"
#include "input/text/unicode.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace bellwether::input {
namespace {

constexpr std::size_t bytes_a_hundred_words = 600;
constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_capital_hex(char c) { return is_digit(c) || (c >= 'A' && c <= 'F'); }
bool is_hex(char c) { return is_capital_hex(c) || (c >= 'a' && c <= 'f'); }

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Returns the character at `at`, or NUL behind the end.
char char_at(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

/// Returns true if base64 digits hold whole UTF-16 units of letters beyond ASCII, as UTF-7 writes them. There must be
/// no private or lone surrogate units, and only zeros in the bits that are left over.
bool holds_utf16(std::string_view digits) {
  std::uint32_t bits = 0;
  int held = 0;
  bool half = false;  // a surrogate pair has begun
  for (char const digit : digits) {
    bits = bits << 6 | static_cast<std::uint32_t>(base64_digits.find(digit));
    held += 6;
    if (held < 16) continue;
    held -= 16;
    auto const unit = bits >> held;
    bits &= (1u << held) - 1;
    bool const second_half = unit >= 0xDC00 && unit < 0xE000, is_private = unit >= 0xE000 && unit < 0xF900;
    if (unit < 0x80 || is_private || second_half != half) return false;
    half = unit >= 0xD800 && unit < 0xDC00;
  }
  return digits.size() > 2 && held < 6 && bits == 0 && !half;
}

/// Most of what follows plus signs must be letters: source code and patches have plus signs, too.
bool is_utf7(std::string_view text) {
  if (!is_ascii(text)) return false;
  std::size_t letters = 0, others = 0;
  for (auto at = text.find('+'); at != text.npos;) {
    auto const end = std::min(text.find_first_not_of(base64_digits, at + 1), text.size());
    auto const digits = text.substr(at + 1, end - at - 1);
    if (!digits.empty()) ++(digits[0] != '+' && holds_utf16(digits) ? letters : others);
    at = text.find('+', end);
  }
  return letters > others && are_frequent(letters, text, bytes_a_hundred_words);
}

bool is_hz(std::string_view text) {
  if (!is_ascii(text)) return false;
  std::size_t count = 0;
  for (auto at = text.find("~{"); at != text.npos; at = text.find("~{", at + 2)) {
    auto const end = text.find("~}", at + 2);
    if (end == text.npos) break;
    auto const pairs = text.substr(at + 2, end - at - 2);
    bool const chinese = !pairs.empty() && pairs.size() % 2 == 0 &&
                         std::ranges::all_of(pairs, [](char c) { return c > ' ' && c < '\x7F'; });
    count += chinese ? 1 : 0;
  }
  return are_frequent(count, text, bytes_a_hundred_words);
}

/// Returns the bytes from 0x80 on of a run `=C3=A9` that begins at `at`, and moves `at` behind it.
std::string quoted_bytes(std::string_view text, std::size_t& at) {
  auto const value = [](char c) { return is_digit(c) ? c - '0' : c - 'A' + 10; };
  std::string bytes;
  for (; char_at(text, at) == '=' && is_capital_hex(char_at(text, at + 1)) && is_capital_hex(char_at(text, at + 2));
       at += 3) {
    int const byte = 16 * value(text[at + 1]) + value(text[at + 2]);
    if (byte < 0x80) break;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

/// Counts letters `=C3=A9` of UTF-8, letters `=E9` of an 8-bit encoding inside words, and lines that continue after
/// `=`.
bool is_quoted_printable(std::string_view text) {
  constexpr std::size_t shortest = 60, longest = 76;
  std::size_t letters = 0, lines = 0, continued = 0;
  for (auto at = text.find('='); at != text.npos; at = text.find('=', at)) {
    char const before = at > 0 ? text[at - 1] : '\0';
    auto const bytes = quoted_bytes(text, at);
    bool const in_word = is_small(before) && is_small(char_at(text, at));
    letters += bytes.size() == 1 ? in_word : !bytes.empty() && is_valid_utf8(bytes);
    if (bytes.empty()) ++at;
  }
  for_each_line(text, [&](std::string_view line) {
    ++lines;
    bool const soft = line.size() >= shortest && line.size() <= longest && line.ends_with('=');
    continued += soft && line[line.size() - 2] != '=' && line[line.size() - 2] != ' ' ? 1 : 0;
  });
  constexpr std::size_t few_lines = 5;
  return are_frequent(letters, text, bytes_a_hundred_words) || (continued >= few_lines && 20 * continued > lines);
}

/// Counts escapes of characters that are not control characters, behind a letter or digit. Formats of source code, such
/// as `%02d` and `%20s`, have control characters or stand behind blanks and quotes.
bool is_percent_encoded(std::string_view text) {
  constexpr std::size_t bytes_an_escape = 60;  // addresses of web pages in a text have fewer
  std::size_t count = 0;
  for (auto at = text.find('%', 1); at != text.npos; at = text.find('%', at + 1)) {
    char const before = text[at - 1], first = char_at(text, at + 1);
    bool const in_word = is_digit(before) || is_small(before) || is_capital(before);
    count += in_word && is_hex(first) && first > '1' && is_hex(char_at(text, at + 2)) ? 1 : 0;
  }
  return are_frequent(count, text, bytes_an_escape);
}

/// Returns true for the text between & and ; of an entity.
bool is_entity(std::string_view name) {
  constexpr std::string_view names[] = {
      "amp",    "lt",     "gt",     "quot",   "apos",   "nbsp",   "copy",  "reg",   "euro",  "pound",  "sect",
      "deg",    "middot", "hellip", "ndash",  "mdash",  "lsquo",  "rsquo", "ldquo", "rdquo", "laquo",  "raquo",
      "bull",   "times",  "auml",   "ouml",   "uuml",   "Auml",   "Ouml",  "Uuml",  "szlig", "aacute", "eacute",
      "iacute", "oacute", "uacute", "agrave", "egrave", "ograve", "acirc", "ecirc", "icirc", "ocirc",  "ucirc",
      "ccedil", "ntilde", "atilde", "otilde", "aring",  "oslash", "aelig", "euml",  "iuml"};
  if (!name.starts_with('#')) return std::ranges::count(names, name) > 0;
  bool const hexadecimal = name.starts_with("#x") || name.starts_with("#X");
  auto const digits = name.substr(hexadecimal ? 2 : 1);
  return digits.size() > 1 && std::ranges::all_of(digits, hexadecimal ? is_hex : is_digit);
}

bool has_entities(std::string_view text) {
  constexpr std::size_t longest = 9;
  std::size_t count = 0;
  for (auto at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    auto const rest = text.substr(at + 1, longest);
    if (auto const end = rest.find(';'); end != rest.npos) count += is_entity(rest.substr(0, end)) ? 1 : 0;
  }
  return are_frequent(count, text, bytes_a_hundred_words);
}

/// Returns true for characters that bytes 0x80 to 0xBF become if Windows-1252 or Latin-1 decodes them.
bool is_later_byte(char32_t c) {
  constexpr char32_t windows[] = {0x20AC, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030,
                                  0x0160, 0x2039, 0x0152, 0x017D, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                  0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x017E, 0x0178};
  return (c >= 0x80 && c < 0xC0) || std::ranges::count(windows, c) > 0;
}

/// Counts characters that look like the first and later bytes of UTF-8. A tenth of the characters beyond ASCII must, so
/// that a closing quote after a French capital is no match.
bool is_encoded_twice(std::string_view text) {
  constexpr std::size_t bytes_a_letter = 3000;
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) characters.push_back(decode_utf8(text, at));
  std::size_t letters = 0, matched = 0, foreign = 0;
  for (char32_t const c : characters) foreign += c >= 0x80 ? 1 : 0;
  for (std::size_t at = 0; at < characters.size();) {
    char32_t const first = characters[at++];
    std::size_t const later = first >= 0xC2 && first < 0xE0 ? 1 : first >= 0xE0 && first < 0xF0 ? 2 : 0;
    if (later == 0 || characters.size() - at < later) continue;
    auto const rest = std::u32string_view(characters).substr(at, later);
    // In French, a letter with an accent may stand before a blank and a closing quote.
    bool const quoted = later == 2 && (rest[1] == 0xAB || rest[1] == 0xBB);
    if (quoted || !std::ranges::all_of(rest, is_later_byte)) continue;
    at += later;
    ++letters;
    matched += 1 + later;
  }
  return are_frequent(letters, text, bytes_a_letter) && 10 * matched > foreign;
}

/// Sums the bytes of lines for which `matches`. Returns true if they are more than a tenth of the text.
template <class Matches>
bool has_bulk(std::string_view text, Matches const& matches) {
  constexpr std::size_t least = 300;
  std::size_t bytes = 0;
  for_each_line(text, [&](std::string_view line) { bytes += matches(line) ? line.size() : 0; });
  return bytes >= least && 10 * bytes > text.size();
}

bool is_base64_line(std::string_view line) {
  constexpr std::size_t shortest = 60;
  if (line.size() < shortest) return false;
  auto const digits = line.substr(0, line.find('='));
  return line.size() - digits.size() <= 2 && digits.find_first_not_of(base64_digits) == digits.npos &&
         std::ranges::any_of(digits, is_small) && std::ranges::any_of(digits, is_capital) &&
         std::ranges::any_of(digits, is_digit);
}

/// Returns true if `text` is hexadecimal and neither a number in decimal digits nor a word.
bool is_hex_number(std::string_view text) {
  return std::ranges::all_of(text, is_hex) && std::ranges::any_of(text, is_digit) &&
         !std::ranges::all_of(text, is_digit);
}

/// Detects a line of hexadecimal digits alone, or one of xxd, hexdump or od: a place, then groups of two or four
/// digits.
bool is_hex_line(std::string_view line) {
  constexpr std::size_t shortest = 32, shortest_place = 6, few_groups = 4;
  if (line.size() >= shortest && is_hex_number(line)) return true;
  auto place = line.substr(0, line.find(' '));
  line.remove_prefix(place.size());
  if (place.ends_with(':')) place.remove_suffix(1);
  if (place.starts_with("0x")) place.remove_prefix(2);
  if (place.size() < shortest_place || !std::ranges::all_of(place, is_hex)) return false;
  std::string digits;
  std::size_t groups = 0;
  for (;; ++groups) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    auto const group = line.substr(0, line.find(' '));
    if ((group.size() != 2 && group.size() != 4) || !std::ranges::all_of(group, is_hex)) break;
    digits += group;
    line.remove_prefix(group.size());
  }
  return groups >= few_groups && is_hex_number(digits);
}

/// Detects a full line of uuencode: its length of 45 bytes as a letter, then 60 characters without small letters.
bool is_uuencoded_line(std::string_view line) {
  return line.size() == 61 && line[0] == 'M' && std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '`'; });
}

/// Detects control characters U+0080 to U+009F. Windows-1252 has letters in their place, ISO-8859-1 has them.
bool holds_c1(std::string_view text) {
  for (auto at = text.find('\xC2'); at != text.npos; at = text.find('\xC2', at + 1))
    if (auto const next = static_cast<unsigned char>(char_at(text, at + 1)); next >= 0x80 && next < 0xA0) return true;
  return false;
}

/// A fault of a text, and what to do about it.
struct Fault {
  bool (*matches)(std::string_view text);
  char const* warning;
};

std::string first_of(std::span<Fault const> faults, std::string_view text) {
  auto const found = std::ranges::find_if(faults, [&](Fault const& fault) { return fault.matches(text); });
  return found == faults.end() ? "" : found->warning;
}

}  // namespace

bool are_frequent(std::size_t count, std::string_view text, std::size_t bytes_a_mark) {
  constexpr std::size_t few = 5;
  return count >= few && count * bytes_a_mark > text.size();
}

std::string encoding_warning(std::string_view text) {
  static constexpr Fault faults[] = {
      {is_utf7, "looks like UTF-7 (+AOk- for U+00E9): letters become signs; convert it: iconv -f UTF-7 -t UTF-8 FILE"},
      {is_hz,
       "looks like HZ (~{...~} for Chinese): letters become signs; convert it: python3 -c \"import sys; "
       "sys.stdout.write(sys.stdin.buffer.read().decode('hz'))\" < FILE"},
      {is_quoted_printable,
       "looks like quoted-printable mail (=C3=A9 for U+00E9, lines that end in =): letters become signs; decode it: "
       "python3 -m quopri -d FILE"},
      {is_percent_encoded,
       "looks percent-encoded (%C3%A9 for U+00E9): letters become signs; decode it: python3 -c \"import sys, "
       "urllib.parse; sys.stdout.write(urllib.parse.unquote(sys.stdin.read()))\" < FILE"},
      {has_entities,
       "holds entities of HTML (&eacute; or &#233; for U+00E9): their names become words to train on; decode them: "
       "python3 -c \"import sys, html; sys.stdout.write(html.unescape(sys.stdin.read()))\" < FILE"},
      {[](std::string_view whole) { return is_encoded_twice(whole) && holds_c1(whole); },
       "was encoded as UTF-8 twice (U+00C3 U+00A9 for U+00E9): letters become two or three others; undo it once: iconv "
       "-f UTF-8 -t ISO-8859-1 FILE"},
      {is_encoded_twice,
       "was encoded as UTF-8 twice (U+00C3 U+00A9 for U+00E9): letters become two or three others; undo it once: iconv "
       "-f UTF-8 -t WINDOWS-1252 FILE"}};
  return first_of(faults, text);
}

std::string dump_warning(std::string_view text) {
  static constexpr Fault faults[] = {
      {[](std::string_view whole) { return has_bulk(whole, is_base64_line); },
       "holds lines of base64, which are data and not language; leave them out, or decode them: base64 -d"},
      {[](std::string_view whole) { return has_bulk(whole, is_hex_line); },
       "holds lines of hexadecimal digits, which are data and not language; leave them out, or decode them: xxd -r"},
      {[](std::string_view whole) { return has_bulk(whole, is_uuencoded_line); },
       "holds lines of uuencode, which are data and not language; leave them out, or decode them: uudecode"}};
  return first_of(faults, text);
}

}  // namespace bellwether::input
