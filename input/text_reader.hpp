// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// One line of a text, or one stretch of a very long line.
struct TextLine {
  std::size_t begin = 0, size = 0;  ///< in TextBlock::text, without the line feed
  bool starts_document = false;     ///< the first line of a file or after a blank one
};

/// Consecutive lines that are not blank.
struct TextBlock {
  std::string text;
  std::vector<TextLine> lines;
  std::string first_line_name;  ///< "file:line" of the first line, for messages
  std::string_view line(TextLine const& which) const { return std::string_view(text).substr(which.begin, which.size); }
};

/// Reads text files, plain or gzip-compressed, one after the other, in blocks of bounded size. A blank line ends a
/// document, and so does the end of a file. A line of more than 256 KiB is cut, at white space where it has some.
class TextReader {
 public:
  /// \throws InputError naming every file that cannot be opened or is not UTF-8 by its first bytes. Pipes are read
  /// once, later.
  explicit TextReader(std::vector<std::string> paths);
  ~TextReader();
  /// The next block; false at the end. \throws InputError naming a file that is damaged.
  bool next(TextBlock& block);
  std::int64_t bytes_read() const {
    return compressed_before_ + compressed_now();
  }  ///< of the files as they lie on disk
  std::int64_t bytes_total() const { return total_; }

  static constexpr std::size_t block_bytes = std::size_t{1} << 20, longest_line = std::size_t{1} << 18;

 private:
  struct File;
  bool open_next();
  bool fill();
  std::int64_t compressed_now() const;
  void take_line(std::string_view line, TextBlock& block);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::unique_ptr<File> file_;
  std::string buffer_;  ///< what is read of the file and not yet handed out from position_ on
  std::size_t position_ = 0;
  std::int64_t line_ = 0, total_ = 0, compressed_before_ = 0;
  bool at_start_ = true;  ///< nothing of the file is read yet
  bool document_ended_ = true;
  bool continues_ = false;  ///< the line at position_ is the rest of one that was cut
};

/// End of the sentence that begins at `begin`: behind . ! ? and closing quotes or brackets before white space, unless
/// the mark ends an initial ("J. Smith") or a small letter follows; or the end of the text.
std::size_t sentence_end(std::string_view text, std::size_t begin);

}  // namespace bellwether::input
