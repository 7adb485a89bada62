// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/markup_watch.hpp"
#include "input/text/text_source.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// A line of one of the texts. TextReader::describe() formats it.
struct TextPlace {
  std::int32_t file = 0;  ///< index of the path
  std::int64_t line = 0;  ///< from 1
};

/// One line of a text, or one part of a very long line.
struct TextLine {
  std::size_t begin = 0, size = 0;  ///< in TextBlock::text, without the line end
  bool starts_document = false;     ///< the first line of a file or after a blank one
  TextPlace place;
};

/// Consecutive non-blank lines.
struct TextBlock {
  std::string text;
  std::vector<TextLine> lines;
  std::string_view line(TextLine const& which) const { return std::string_view(text).substr(which.begin, which.size); }
};

/// Reads text files, plain or gzip-compressed, one after the other, in blocks of bounded size. A line ends with a line
/// feed, a carriage return, carriage returns and a line feed, or a line feed and a carriage return. A blank line or the
/// end of a file ends a document. A byte order mark at the beginning of a file is skipped. A line is blank if it holds
/// only white space, control and format characters of Unicode. A line of more than 256 KiB is split, at white space if
/// possible.
class TextReader {
 public:
  /// \param paths files, or "-" for standard input. Pipes and standard input are read once, by next().
  /// \param poll ends a wait for bytes of a pipe or terminal by throwing.
  ///
  /// \throws InputError naming every file that cannot be opened, is given twice, or is not UTF-8 text. The first 64 KiB
  /// of a file decide (see text_kind.hpp).
  explicit TextReader(std::vector<std::string> paths, WaitPoll poll = {});
  ~TextReader();
  /// Reads the next block. Returns false at the end.
  /// \throws InputError naming file and line, or byte, of damage or of bytes that are not text. Also throws if a file
  /// changed since this object was constructed.
  bool next(TextBlock& block);

  std::string describe(TextPlace place) const;  ///< "file:line"
  /// Returns warnings about the files read so far: those that look like markup, one warning for each kind, and, of
  /// several files, those that hold no text.
  std::vector<std::string> warnings() const;
  std::int64_t bytes_read() const;  ///< as stored, summed over all files so far
  std::int64_t bytes_total() const { return total_; }

  static constexpr std::size_t block_bytes = std::size_t{1} << 20, longest_line = std::size_t{1} << 18;

 private:
  bool open_next();
  bool fill();
  void inspect_bytes(std::string_view fresh);
  void require_unchanged() const;
  std::string inspect_start(std::string const& path);
  void end_line(std::string_view line, char end, TextBlock& block);
  void take_line(std::string_view line, TextBlock& block);
  void finish_returns();
  void note_empty();

  std::vector<std::string> paths_;
  MarkupWarnings markup_;  ///< of the files that were read to the end
  MarkupWatch watch_;      ///< of the current file
  WaitPoll poll_;
  std::vector<FileState> states_;  ///< of the files when they were inspected
  std::size_t next_path_ = 0;
  std::unique_ptr<TextSource> source_;
  std::string buffer_;  ///< bytes read from the file; those from position_ on are not used yet
  std::size_t position_ = 0;
  std::string first_empty_;  ///< the first file without text
  std::int64_t empty_ = 0;   ///< number of files without text
  bool has_text_ = false;    ///< the current file has a line that is not blank
  std::int64_t line_ = 0, total_ = 0, bytes_before_ = 0, bytes_decoded_ = 0;
  std::int64_t returns_ = 0;  ///< carriage returns at the end of the last line; a line feed may follow them
  bool after_feed_ = false;   ///< the last line ended with a line feed alone; a carriage return may belong to it
  bool feed_return_ = false;  ///< the last of returns_ follows a line feed: it ends a line only before another line end
  bool document_ended_ = true;
  bool continues_ = false;  ///< the line at position_ continues one that was split
};

}  // namespace bellwether::input
