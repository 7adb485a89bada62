// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/segment_worker.hpp"

#include "input/text/sentences.hpp"

#include <xxhash.h>

#include <algorithm>
#include <string>

namespace bellwether::input {

TokenBlock SegmentWorker::operator()(TextBlock const& text) {
  TokenBlock block;
  std::int64_t const overlong_before = tokenizer_->overlong_bytes();
  auto const& lines = text.lines;
  for (std::size_t i = 0; i < lines.size();) {
    auto& part = block.parts.emplace_back();
    part.starts_document = lines[i].starts_document;
    part.place = lines[i].place;
    std::size_t const first = i;
    do {
      add_line(text, lines[i], block);
      if (!wrapped_) {
        add_sentences(text.line(lines[i]), block);
        block.starts.add(text.line(lines[i]), i > first ? text.line(lines[i - 1]) : std::string_view(), lines[i].place);
      }
      ++i;
    } while (i < lines.size() && !lines[i].starts_document);
    // Lines are stored one after the other, separated by line feeds, so the document's lines of this block form one
    // text.
    if (wrapped_)
      add_sentences(std::string_view(text.text).substr(lines[first].begin,
                                                       lines[i - 1].begin + lines[i - 1].size - lines[first].begin),
                    block);
  }
  block.overlong_bytes = tokenizer_->overlong_bytes() - overlong_before;
  return block;
}

void SegmentWorker::add_line(TextBlock const& text, TextLine const& line, TokenBlock& block) {
  auto const bytes = text.line(line);
  auto const size = static_cast<std::int64_t>(bytes.size());
  block.parts.back().lines.push_back({hash_of(bytes, block.characters), size, line.place});
  if (!is_valid_utf8(bytes) && block.invalid_lines++ == 0) block.first_invalid = line.place;
}

/// Returns the hash of the letters that the tokenizer sees, without white space. Lines with the same hash give the same
/// tokens with any vocabulary. Adds the characters of the line to `counts`, because it is normalised here anyway.
std::uint64_t SegmentWorker::hash_of(std::string_view line, CharacterCounts& counts) {
  letters_.clear();
  bool const ascii = std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii) tables_->characters().normalise(line, letters_, &counts);
  auto const from = ascii ? line : std::string_view(letters_);
  std::size_t kept = 0;
  letters_.resize(from.size());
  for (char const c : from) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7F') continue;
    letters_[kept++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (ascii)
    counts.letters += std::count_if(letters_.begin(), letters_.begin() + static_cast<std::ptrdiff_t>(kept),
                                    [](char c) { return c >= 'a' && c <= 'z'; });
  return XXH3_64bits(letters_.data(), kept);
}

void SegmentWorker::add_sentences(std::string_view text, TokenBlock& block) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = sentence_end(text, at);
    std::size_t const before = block.ids.size();
    tokenizer_->encode(text.substr(at, end - at), block.ids);
    at = end;
    if (block.ids.size() > before)
      block.parts.back().sentences.push_back(static_cast<std::uint32_t>(block.ids.size() - before));
  }
}

}  // namespace bellwether::input
