// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/line_starts.hpp"

#include "input/shards/shares.hpp"

#include <algorithm>
#include <functional>

namespace bellwether::input {
namespace {

using namespace std::string_view_literals;

constexpr double most_in_sentence = 0.4, least_upper = 0.02, least_at_width = 0.7;

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
  constexpr std::string_view closers[] = {" "sv, "\t"sv, "\""sv,     "'"sv,      ")"sv,
                                          "]"sv, "}"sv,  "\u201D"sv, "\u2019"sv, "\u00BB"sv};
  constexpr std::string_view marks[] = {"."sv, "!"sv, "?"sv, ":"sv, ";"sv, "\u2026"sv};
  while (remove_end(line, closers)) {
  }
  return remove_end(line, marks);
}

/// Returns the characters of UTF-8 text without blanks at its end.
std::int64_t characters_of(std::string_view line) {
  auto const end = line.find_last_not_of(" \t");
  line = line.substr(0, end == line.npos ? 0 : end + 1);
  return std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

void LineStarts::add(std::string_view line, std::string_view before, TextPlace place) {
  ++lines_;
  auto const at = line.find_first_not_of(" \t");
  if (at == line.npos) return;
  if (line[at] >= 'A' && line[at] <= 'Z') ++upper_;
  bool const lower = line[at] >= 'a' && line[at] <= 'z';
  if (!lower || before.size() > 4 * longest || ends_sentence(before)) return;
  auto const length = characters_of(before);
  // Shorter lines are entries of lists; longer ones are paragraphs, or parts of a line that the reader has cut.
  if (length < shortest || length > longest) return;
  if (in_sentence_++ == 0) first_ = place;
  auto const word = line.substr(at, line.find_first_of(" \t", at) - at);
  ++lengths_[static_cast<std::size_t>(length)];
  ++joined_[static_cast<std::size_t>(std::min(length + 1 + characters_of(word), longest))];
}

LineStarts& LineStarts::operator+=(LineStarts const& later) {
  if (in_sentence_ == 0) first_ = later.first_;
  lines_ += later.lines_;
  in_sentence_ += later.in_sentence_;
  upper_ += later.upper_;
  std::ranges::transform(lengths_, later.lengths_, lengths_.begin(), std::plus<>());
  std::ranges::transform(joined_, later.joined_, joined_.begin(), std::plus<>());
  return *this;
}

bool LineStarts::are_wrapped() const {
  if (lines_ < few || share_in_sentence() <= most_in_sentence || share(upper_, lines_) <= least_upper) return false;
  // At the right width, every line fits, and none would with the first word of the next line.
  std::int64_t most = 0, fit = 0, too_long = in_sentence_;
  for (std::size_t width = 0; width < lengths_.size(); ++width) {
    fit += lengths_[width];
    too_long -= joined_[width];
    most = std::max(most, fit + too_long);
  }
  return share(most, 2 * in_sentence_) > least_at_width;
}

double LineStarts::share_in_sentence() const { return share(in_sentence_, lines_); }

std::string wrapped_warning(LineStarts const& starts, std::string const& place) {
  if (!starts.are_wrapped()) return "";
  return percent(starts.share_in_sentence()) + " of the lines begin in the middle of a sentence, such as " + place +
         ": the text is wrapped at a fixed width; add --wrapped, which joins the lines of a paragraph";
}

}  // namespace bellwether::input
