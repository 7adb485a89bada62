// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/line_starts.hpp"

#include "input/shards/shares.hpp"
#include "input/text/unicode.hpp"

#include <algorithm>
#include <functional>

namespace bellwether::input {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t few_without_capitals = 50;  // a few lines of code may have such lengths by chance
constexpr double most_in_sentence = 0.4, least_upper = 0.02;
constexpr double least_at_width = 0.7, least_at_width_without_capitals = 0.9, most_of_one_length = 0.35;

/// Removes one of the texts from the end of `line`, if it is there.
template <class Texts>
bool remove_end(std::string_view& line, Texts const& texts) {
  for (std::string_view const text : texts)
    if (line.ends_with(text)) {
      line.remove_suffix(text.size());
      return true;
    }
  return false;
}

/// Returns true if a line ends with sentence punctuation, also before closing quotes and brackets.
bool ends_sentence(std::string_view line) {
  constexpr std::string_view closers[] = {" "sv,      "\t"sv,     "\""sv,     "'"sv,      ")"sv,      "]"sv,
                                          "}"sv,      "\u201C"sv, "\u201D"sv, "\u2018"sv, "\u2019"sv, "\u00AB"sv,
                                          "\u00BB"sv, "\u300D"sv, "\u300F"sv, "\u300B"sv, "\uFF09"sv, "\u3011"sv};
  // Behind the Latin ones: Arabic and Urdu, dandas, Ethiopic, Armenian, Chinese and Japanese, Burmese, Khmer, Tibetan.
  constexpr std::string_view marks[] = {"."sv,      "!"sv,      "?"sv,      ":"sv,      ";"sv,      "\u2026"sv,
                                        "\u061F"sv, "\u06D4"sv, "\u061B"sv, "\u0964"sv, "\u0965"sv, "\u1362"sv,
                                        "\u1367"sv, "\u0589"sv, "\u3002"sv, "\uFF61"sv, "\uFF0E"sv, "\uFF01"sv,
                                        "\uFF1F"sv, "\uFF1A"sv, "\uFF1B"sv, "\u104B"sv, "\u17D4"sv, "\u0F0D"sv};
  while (remove_end(line, closers)) {
  }
  return remove_end(line, marks);
}

/// Returns the characters of UTF-8 text without blanks at its end.
std::int64_t characters_of(std::string_view line) {
  auto const end = line.find_last_not_of(" \t");
  line = line.substr(0, end == line.npos ? 0 : end + 1);
  return static_cast<std::int64_t>(count_code_points(line));
}

/// Removes blanks and the marks of quoted mail from the beginning of `line`. Returns the number of marks.
int remove_quotes(std::string_view& line) {
  for (int marks = 0;; ++marks) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('>')) return marks;
    line.remove_prefix(1);
  }
}

/// Returns true for letters of scripts that are written without blanks: Thai to Khmer, Chinese, Japanese.
bool is_unspaced(char32_t c) {
  return (c >= 0x0E00 && c < 0x10A0) || (c >= 0x1780 && c < 0x1800) || (c >= 0x3040 && c < 0xA000) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0x20000 && c < 0x32000);
}

}  // namespace

void LineStarts::add(std::string_view line, std::string_view before, TextPlace place) {
  constexpr std::int64_t longest_word = 16, unspaced_word = 4;
  ++lines_;
  int const quotes = remove_quotes(line);
  if (line.empty()) return;
  std::size_t at = 0;
  char32_t const first = decode_utf8(line, at);
  if (is_capital(first)) ++upper_;
  if (is_capital(first) || !is_letter(first) || before.size() > 4 * longest) return;
  // A reply stands between quoted lines.
  if (remove_quotes(before) != quotes || ends_sentence(before)) return;
  auto const length = characters_of(before);
  // Shorter lines are entries of lists; longer ones are paragraphs, or parts of a line that the reader has cut.
  if (length < shortest || length > longest) return;
  bool const unspaced = is_unspaced(first);
  // Lines without blanks are addresses, names of files, or data.
  if (!unspaced && before.find_first_of(" \t") == before.npos) return;
  if (in_sentence_++ == 0) first_ = place;
  caseless_ += is_small(first) ? 0 : 1;
  unspaced_ += unspaced ? 1 : 0;
  quoted_ += quotes > 0 ? 1 : 0;
  // A program that wraps text without blanks keeps only a few characters together, such as a full stop and a bracket.
  auto const word =
      unspaced ? unspaced_word : std::min(characters_of(line.substr(0, line.find_first_of(" \t"))), longest_word);
  ++lengths_[static_cast<std::size_t>(length)];
  ++joined_[static_cast<std::size_t>(std::min(length + 1 + word, longest))];
}

LineStarts& LineStarts::operator+=(LineStarts const& later) {
  if (in_sentence_ == 0) first_ = later.first_;
  lines_ += later.lines_;
  in_sentence_ += later.in_sentence_;
  upper_ += later.upper_;
  caseless_ += later.caseless_;
  unspaced_ += later.unspaced_;
  quoted_ += later.quoted_;
  std::ranges::transform(lengths_, later.lengths_, lengths_.begin(), std::plus<>());
  std::ranges::transform(joined_, later.joined_, joined_.begin(), std::plus<>());
  return *this;
}

bool LineStarts::have_capitals() const { return share(upper_, lines_) > least_upper && 2 * caseless_ <= in_sentence_; }

bool LineStarts::are_wrapped() const {
  if (lines_ < few || share_in_sentence() <= most_in_sentence) return false;
  bool const capitals = have_capitals();
  if (!capitals && in_sentence_ < few_without_capitals) return false;
  bool const blanks = 2 * unspaced_ <= in_sentence_;
  if (!capitals && blanks && share(*std::ranges::max_element(lengths_), in_sentence_) > most_of_one_length)
    return false;
  // At the right width, every line fits, and none would with the first word of the next line.
  std::int64_t most = 0, fit = 0, too_long = in_sentence_;
  for (std::size_t width = 0; width < lengths_.size(); ++width) {
    fit += lengths_[width];
    too_long -= joined_[width];
    most = std::max(most, fit + too_long);
  }
  return share(most, 2 * in_sentence_) > (capitals ? least_at_width : least_at_width_without_capitals);
}

double LineStarts::share_in_sentence() const { return share(in_sentence_, lines_); }

std::string wrapped_warning(LineStarts const& starts, std::string const& place) {
  if (!starts.are_wrapped()) return "";
  auto const found = percent(starts.share_in_sentence()) + " of the lines begin in the middle of a sentence, such as " +
                     place + ": the text is ";
  if (starts.are_quoted())
    return found +
           "quoted mail, wrapped at a fixed width; remove the marks, as sed -E 's/^([ \\t]*>)+ ?//' FILE does, and add "
           "--wrapped, which joins the lines of a paragraph";
  return found + "wrapped at a fixed width; add --wrapped, which joins the lines of a paragraph";
}

}  // namespace bellwether::input
