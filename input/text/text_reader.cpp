// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/text_reader.hpp"

#include "core/system/error.hpp"
#include "input/files/regular_file.hpp"
#include "input/text/text_kind.hpp"
#include "input/text/unicode.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace bellwether::input {
namespace {

constexpr std::size_t start_bytes = std::size_t{1} << 16;  // inspected in each file before any text is read
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    auto const byte = static_cast<unsigned char>(line[at]);
    if (byte > 0x20 && byte < 0x7F) return false;
    if (!is_invisible(decode_utf8(line, at))) return false;
  }
  return true;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Returns the position of the first line feed or carriage return.
std::size_t find_line_end(std::string_view text) {
  auto const feed = text.find('\n');
  auto const before = text.substr(0, feed);
  auto const carriage_return = before.find('\r');
  return carriage_return != std::string_view::npos ? carriage_return : feed;
}

/// Returns where to split a line longer than longest_line: after white space, or at least not inside a character.
std::size_t cut_of(std::string_view line) {
  constexpr std::size_t longest = TextReader::longest_line;
  std::size_t cut = longest;
  while (cut > longest / 2 && !is_space(line[cut - 1])) --cut;
  if (cut > longest / 2) return cut;
  cut = longest;
  while (cut > longest - 4 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return cut;
}

/// Detects several paths to one file or pipe, whose text would be trained on twice.
class SamePaths {
 public:
  /// Returns "", or what is wrong with `path`.
  std::string add(std::string const& path) {
    struct stat status {};
    int const code = path == standard_input ? fstat(0, &status) : stat(path.c_str(), &status);
    if (code != 0) return "";
    auto const [first, added] = seen_.emplace(std::pair{status.st_dev, status.st_ino}, path);
    if (added || S_ISCHR(status.st_mode)) return "";
    return path + ": is given twice" + (first->second == path ? "" : ", also as " + first->second) +
           "; allowed: each text once; --duplicate N passes over the texts N times";
  }

 private:
  std::map<std::pair<dev_t, ino_t>, std::string> seen_;
};

}  // namespace

TextReader::TextReader(std::vector<std::string> paths, WaitPoll poll)
    : paths_(std::move(paths)), poll_(std::move(poll)) {
  std::vector<std::string> faults;
  SamePaths same;
  for (auto const& path : paths_) {
    states_.push_back(path == standard_input ? FileState{} : file_state(path));
    if (auto const fault = inspect_start(path); !fault.empty()) {
      faults.push_back((path == standard_input ? "standard input" : path) + ": " + fault);
      continue;
    }
    if (auto const fault = same.add(path); !fault.empty()) faults.push_back(fault);
    std::error_code error;
    if (auto const size = std::filesystem::file_size(path, error); path != standard_input && !error)
      total_ += static_cast<std::int64_t>(size);
  }
  if (!faults.empty()) throw InputError(std::move(faults));
}

TextReader::~TextReader() = default;

/// Inspects the first bytes of `path`. Returns why it cannot be read as text; empty if it can.
std::string TextReader::inspect_start(std::string const& path) {
  if (path == standard_input) return "";
  std::error_code error;
  auto const status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "no such text";
  if (std::filesystem::is_directory(status)) return "is a folder; name text files, plain or .gz";
  if (auto kind = fault_of_file(path, Pipes::of_this_process); !kind.empty()) return kind;
  if (!std::filesystem::is_regular_file(status)) return "";  // reading from a pipe would consume the text
  if (path.ends_with(".gz") && std::filesystem::file_size(path, error) == 0)
    return "is empty (0 bytes), so it is not a gzip file; make it again or leave it out";
  std::string start(start_bytes, '\0');
  try {
    TextSource source(path);
    bool const named = path.ends_with(".gz") || path.ends_with(".tgz");
    std::size_t filled = 0;
    for (std::size_t got = 1; got > 0 && filled < start.size(); filled += got)
      got = source.read(std::span(start).subspan(filled));
    start.resize(filled);
    auto const wrapping = source.compressed() ? Wrapping::gzip : Wrapping::none;
    if (auto fault = text_fault(start, wrapping, path); !fault.empty()) return fault;
    if (named && !source.compressed())
      return "is not compressed with gzip, as its name says; rename it if it is plain text";
  } catch (InputError const&) {
    return "";  // next() reports the damage with its line
  }
  return "";
}

std::int64_t TextReader::bytes_read() const { return bytes_before_ + (source_ ? source_->bytes_read() : 0); }

std::string TextReader::describe(TextPlace place) const {
  auto const& path = paths_[static_cast<std::size_t>(place.file)];
  return (path == standard_input ? "standard input" : path) + ":" + std::to_string(place.line);
}

std::vector<std::string> TextReader::warnings() const {
  auto texts = markup_.texts();
  std::string const nothing = " no text, only white space or nothing at all: copy ";
  if (empty_ == 1) texts.push_back(first_empty_ + " holds" + nothing + "it again, or leave it out");
  if (empty_ > 1)
    texts.push_back(first_empty_ + " and " + std::to_string(empty_ - 1) +
                    (empty_ == 2 ? " other text" : " other texts") + " hold" + nothing +
                    "them again, or leave them out");
  return texts;
}

/// Counts the file that ends if it gave no line. A single file without text is an error of the caller.
void TextReader::note_empty() {
  if (has_text_ || paths_.size() == 1) return;
  if (empty_++ == 0) first_empty_ = source_->name();
}

bool TextReader::open_next() {
  if (source_) {
    bytes_before_ += source_->bytes_read();
    note_empty();
    watch_.finish();
    markup_.add(source_->name(), watch_.findings());
  }
  watch_ = {};
  source_.reset();
  if (next_path_ == paths_.size()) return false;
  source_ = std::make_unique<TextSource>(paths_[next_path_++], poll_);
  line_ = 0;
  returns_ = 0;
  after_feed_ = feed_return_ = false;
  bytes_decoded_ = 0;
  document_ended_ = true;
  continues_ = has_text_ = false;
  require_unchanged();
  return true;
}

/// A text is read in parts, by several passes, so it must not change in between.
void TextReader::require_unchanged() const {
  auto const& known = states_[next_path_ - 1];
  if (!known.regular || source_->state() == known) return;
  throw InputError(source_->name() + ": has changed while it was read; run again when no program writes to it");
}

/// Drops the used part of the buffer and appends to it. Returns false at the end of the file.
bool TextReader::fill() {
  buffer_.erase(0, position_);
  position_ = 0;
  std::size_t const before = buffer_.size();
  buffer_.resize(before + longest_line);
  std::size_t got = 0;
  try {
    // A pipe delivers few bytes at a time. Fill up, so that the content is checked in the same parts as that of a file.
    for (std::size_t more = 1; more > 0 && got < longest_line; got += more)
      more = source_->read(std::span(buffer_).subspan(before + got));
  } catch (InputError const& error) {
    if (got == 0)  // else report it in the next call, after the lines before it were counted
      throw InputError(std::string(error.what()) + "; " + std::to_string(line_) + (line_ == 1 ? " line" : " lines") +
                       " before it can be read");
  }
  buffer_.resize(before + got);
  inspect_bytes(std::string_view(buffer_).substr(before));
  if (bytes_decoded_ == 0 && buffer_.starts_with(byte_order_mark)) position_ = byte_order_mark.size();
  bytes_decoded_ += static_cast<std::int64_t>(got);
  if (got == 0) require_unchanged();
  return got > 0;
}

/// \throws InputError if `fresh`, the next bytes of a file, are not UTF-8 text.
void TextReader::inspect_bytes(std::string_view fresh) {
  auto const wrapping = source_->compressed() ? Wrapping::gzip : Wrapping::none;
  bool const first = bytes_decoded_ == 0;
  std::string const file = source_->is_standard_input() ? "FILE" : source_->name();
  auto const fault = first ? text_fault(fresh, wrapping, file) : stretch_fault(fresh, file);
  if (!fault.empty())
    throw InputError(source_->name() + ": " + (first ? "" : "from line " + std::to_string(line_ + 1) + " on, ") +
                     fault);
  watch_.add(fresh);
}

void TextReader::take_line(std::string_view line, TextBlock& block) {
  if (is_blank(line)) {
    // The rest of a line that was split does not end a document.
    if (!continues_) document_ended_ = true;
    return;
  }
  TextPlace const place{static_cast<std::int32_t>(next_path_ - 1), line_};
  block.lines.push_back({block.text.size(), line.size(), document_ended_, place});
  block.text.append(line);
  block.text.push_back('\n');
  has_text_ = true;
  document_ended_ = false;
}

/// Carriage returns without a line feed end lines; all of those lines but the first are blank.
void TextReader::finish_returns() {
  if (returns_ > 1) {
    line_ += returns_ - 1;
    document_ended_ = true;
  }
  returns_ = 0;
}

/// Handles a line that ends with `end`, a line feed or a carriage return.
void TextReader::end_line(std::string_view line, char end, TextBlock& block) {
  // "\n\r" is one line end, in texts of a few old systems. But "\n\r\n" is a line feed and then a blank line.
  bool const feed_return = std::exchange(feed_return_, false), after_feed = std::exchange(after_feed_, false);
  if (line.empty() && end == '\r' && after_feed && !continues_) {
    feed_return_ = true;
    returns_ = 1;
    return;
  }
  // "\r\r\n" is one line end: a text whose line ends were converted twice must not get blank lines between its lines.
  if (line.empty() && returns_ > 0) {
    if (feed_return) ++line_;
    document_ended_ = document_ended_ || feed_return;
    after_feed_ = feed_return && end == '\n';
    returns_ = end == '\n' ? 0 : returns_ + 1;
    return;
  }
  finish_returns();
  if (!continues_) ++line_;
  take_line(line, block);
  continues_ = false;
  returns_ = end == '\r' ? 1 : 0;
  after_feed_ = end == '\n';
}

bool TextReader::next(TextBlock& block) {
  block.text.clear();
  block.lines.clear();
  while (block.text.size() < block_bytes) {
    if (!source_ && !open_next()) break;
    auto const rest = std::string_view(buffer_).substr(position_);
    if (auto const end = find_line_end(rest.substr(0, longest_line)); end != std::string_view::npos) {
      end_line(rest.substr(0, end), rest[end], block);
      position_ += end + 1;
      continue;
    }
    if (rest.size() > longest_line) {
      auto const cut = cut_of(rest);
      finish_returns();
      if (!continues_) ++line_;
      take_line(rest.substr(0, cut), block);
      position_ += cut;
      continues_ = true;
      continue;
    }
    if (fill()) continue;
    if (position_ < buffer_.size()) end_line(std::string_view(buffer_).substr(position_), '\n', block);
    buffer_.clear();
    position_ = 0;
    if (!open_next()) break;
  }
  return !block.lines.empty();
}

}  // namespace bellwether::input
