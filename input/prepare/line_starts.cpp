// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/line_starts.hpp"

#include "input/shards/shares.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bellwether::input {
namespace {

using namespace std::string_view_literals;

constexpr double most_in_sentence = 0.4, least_upper = 0.02, least_of_one_width = 0.6;
constexpr std::int64_t words_length = 16;  // a wrapped line is shorter than the width by less than its next word

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
  ++lengths_[static_cast<std::size_t>(length)];
}

LineStarts& LineStarts::operator+=(LineStarts const& later) {
  if (in_sentence_ == 0) first_ = later.first_;
  lines_ += later.lines_;
  in_sentence_ += later.in_sentence_;
  upper_ += later.upper_;
  std::ranges::transform(lengths_, later.lengths_, lengths_.begin(), std::plus<>());
  return *this;
}

bool LineStarts::are_wrapped() const {
  if (lines_ < few || share_in_sentence() <= most_in_sentence || share(upper_, lines_) <= least_upper) return false;
  std::int64_t most = 0;
  for (auto first = lengths_.begin(); first + words_length <= lengths_.end(); ++first)
    most = std::max(most, std::accumulate(first, first + words_length, std::int64_t{0}));
  return share(most, in_sentence_) > least_of_one_width;
}

double LineStarts::share_in_sentence() const { return share(in_sentence_, lines_); }

std::string wrapped_warning(LineStarts const& starts, std::string const& place) {
  if (!starts.are_wrapped()) return "";
  return percent(starts.share_in_sentence()) + " of the lines begin in the middle of a sentence, such as " + place +
         ": the text is wrapped at a fixed width; add --wrapped, which joins the lines of a paragraph";
}

}  // namespace bellwether::input
