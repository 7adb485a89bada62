// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/markup_watch.hpp"

#include "input/text/text_kind.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bellwether::input {
namespace {

/// Searches with memchr, which is several times as fast as a comparison of each byte.
std::int64_t count_of(char c, std::string_view text) {
  std::int64_t count = 0;
  for (auto at = text.find(c); at != text.npos; at = text.find(c, at + 1)) ++count;
  return count;
}

}  // namespace

void MarkupWatch::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (position_ == next_) begin_window();
    auto const wanted = collects_ ? window_bytes - window_.size() : static_cast<std::size_t>(next_ - position_);
    auto const part = bytes.substr(0, wanted);
    feeds_ += count_of('\n', part);
    if (feeds_ == 0) returns_ += count_of('\r', part);
    if (collects_)
      window_ += part;
    else
      keep_tail(part);
    position_ += static_cast<std::int64_t>(part.size());
    bytes.remove_prefix(part.size());
    if (collects_ && window_.size() == window_bytes) examine();
  }
}

void MarkupWatch::finish() {
  // In a short part, few marks would be many for its size.
  constexpr std::size_t shortest = window_bytes / 4;
  if (!collects_ && tail_.size() >= shortest) {
    window_ = tail_.substr(tail_.size() - std::min(tail_.size(), window_bytes));
    begin_ = position_ - static_cast<std::int64_t>(window_.size());
    begin_line_ = feeds_ > 0 ? feeds_ - count_of('\n', window_) + 1 : returns_ - count_of('\r', window_) + 1;
    examine();
  }
  if (collects_ && (begin_ == 0 || window_.size() >= shortest)) examine();
}

void MarkupWatch::keep_tail(std::string_view part) {
  if (part.size() >= window_bytes) {
    tail_ = part.substr(part.size() - window_bytes);
    return;
  }
  tail_ += part;
  if (tail_.size() > 2 * window_bytes) tail_.erase(0, tail_.size() - window_bytes);
}

void MarkupWatch::begin_window() {
  constexpr std::int64_t longest_gap = std::int64_t{1} << 20;
  collects_ = true;
  tail_.clear();
  begin_ = position_;
  begin_line_ = (feeds_ > 0 ? feeds_ : returns_) + 1;
  next_ = begin_ == 0 ? static_cast<std::int64_t>(window_bytes) : begin_ + std::min(begin_, longest_gap);
}

void MarkupWatch::examine() {
  collects_ = false;
  std::string_view text = window_;
  auto line = begin_ == 0 ? std::int64_t{0} : begin_line_;
  // A window may begin inside a line. Leave its rest out if complete lines follow.
  if (auto const end = text.find('\n'); line > 0 && end < text.size() / 2) {
    text.remove_prefix(end + 1);
    ++line;
  }
  if (auto warning = line == 0 ? markup_warning(text) : later_markup_warning(text); !warning.empty()) {
    bool const known = std::ranges::any_of(findings_, [&](auto const& found) { return found.warning == warning; });
    if (!known) findings_.push_back({std::move(warning), line});
  }
  window_.clear();
}

void MarkupWarnings::add(std::string const& name, std::vector<MarkupFinding> const& findings) {
  for (auto const& finding : findings) {
    auto const kind =
        std::ranges::find_if(kinds_, [&](Kind const& known) { return known.finding.warning == finding.warning; });
    if (kind == kinds_.end())
      kinds_.push_back({name, finding});
    else
      ++kind->texts;
  }
}

std::vector<std::string> MarkupWarnings::texts() const {
  std::vector<std::string> texts;
  for (auto const& kind : kinds_) {
    std::string place;
    if (kind.finding.line > 0) place = "from line " + std::to_string(kind.finding.line) + " on";
    if (kind.texts > 1)
      place += (place.empty() ? "" : "; ") + ("and " + std::to_string(kind.texts - 1)) +
               (kind.texts == 2 ? " other text" : " other texts");
    texts.push_back(kind.first + (place.empty() ? "" : " (" + place + ")") + " " + kind.finding.warning);
  }
  return texts;
}

}  // namespace bellwether::input
