// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/prepare/document_splitter.hpp"
#include "input/prepare/line_starts.hpp"
#include "input/text/text_reader.hpp"
#include "input/text/wordpiece.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Consecutive lines of one document.
struct DocumentPart {
  bool starts_document = false;
  TextPlace place;  ///< of its first line
  std::vector<LineDigest> lines;
  std::vector<std::uint32_t> sentences;  ///< tokens of each, in the order of TokenBlock::ids
};

/// The tokens of a block of text.
struct TokenBlock {
  std::vector<std::int32_t> ids;
  std::vector<DocumentPart> parts;
  std::int64_t invalid_lines = 0;  ///< lines that contain bytes that are not UTF-8; those bytes are dropped
  TextPlace first_invalid;
  CharacterCounts characters;
  LineStarts starts;                ///< not counted with --wrapped
  std::int64_t overlong_bytes = 0;  ///< bytes in words of more than 100 characters
  std::int64_t bytes_read = 0;      ///< TextReader::bytes_read() after the block
};

/// Splits text into sentences of token ids. Each thread owns one.
class SegmentWorker {
 public:
  /// \param wrapped lines are wrapped: sentences continue across line ends, but not across the end of a block.
  SegmentWorker(TokenizerTables const& tables, bool wrapped)
      : tokenizer_(std::make_unique<Tokenizer>(tables, WrittenSpecials::characters)),
        tables_(&tables),
        wrapped_(wrapped) {}

  TokenBlock operator()(TextBlock const& text);

 private:
  void add_line(TextBlock const& text, TextLine const& line, TokenBlock& block);
  std::uint64_t hash_of(std::string_view line, CharacterCounts& counts);
  void add_sentences(std::string_view text, TokenBlock& block);

  std::unique_ptr<Tokenizer> tokenizer_;
  TokenizerTables const* tables_;
  bool wrapped_;
  std::string letters_;  ///< normalised letters of a line, for its hash
};

}  // namespace bellwether::input
