// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text_reader.hpp"

#include "core/error.hpp"
#include "input/regular_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bellwether::input {

namespace {

constexpr std::string_view blanks = " \t\r\v\f";

bool is_blank(std::string_view line) { return line.find_first_not_of(blanks) == std::string_view::npos; }
bool is_space(char c) { return c == '\n' || blanks.find(c) != std::string_view::npos; }

/// What to do about a text that begins with the mark of another encoding than UTF-8; empty where it does not.
std::string other_encoding(std::string_view start) {
  using namespace std::string_view_literals;
  std::string name;
  if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv))
    name = "UTF-32";
  else if (start.starts_with("\xFF\xFE"sv) || start.starts_with("\xFE\xFF"sv))
    name = "UTF-16";
  else
    return "";
  return "is " + name + "; allowed: UTF-8, as `iconv -f " + name + " -t UTF-8` makes it";
}

}  // namespace

/// zlib reads what is not compressed as it is.
struct TextReader::File {
  explicit File(std::string name) : path(std::move(name)), handle(gzopen(path.c_str(), "rb")) {
    if (handle == nullptr) throw InputError(path + ": cannot read this text");
    gzbuffer(handle, 1 << 18);
  }
  ~File() { gzclose(handle); }
  File(File const&) = delete;
  File& operator=(File const&) = delete;
  std::string path;
  gzFile handle;
};

TextReader::TextReader(std::vector<std::string> paths) : paths_(std::move(paths)) {
  std::vector<std::string> faults;
  for (auto const& path : paths_) {
    std::error_code error;
    auto const status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
      faults.push_back(path + ": no such text");
    else if (std::filesystem::is_directory(status))
      faults.push_back(path + ": is a folder; name text files, plain or .gz");
    else if (auto const kind = fault_of_file(path, Pipes::of_this_process); !kind.empty())
      faults.push_back(path + ": " + kind);
    else if (!std::filesystem::is_regular_file(status))
      continue;  // what is read of a pipe is gone
    else if (gzFile const probe = gzopen(path.c_str(), "rb"); probe == nullptr)
      faults.push_back(path + ": cannot be opened for reading");
    else {
      if (path.ends_with(".gz") && gzdirect(probe) != 0)
        faults.push_back(path + ": is not compressed with gzip, as its name says; another name if it is plain text");
      char start[4] = {};
      if (int const got = gzread(probe, start, sizeof start); got > 0)
        if (auto const fault = other_encoding({start, static_cast<std::size_t>(got)}); !fault.empty())
          faults.push_back(path + ": " + fault);
      gzclose(probe);
    }
    if (auto const size = std::filesystem::file_size(path, error); !error) total_ += static_cast<std::int64_t>(size);
  }
  if (!faults.empty()) throw InputError(std::move(faults));
}

TextReader::~TextReader() = default;

bool TextReader::open_next() {
  if (file_) compressed_before_ += compressed_now();
  file_.reset();
  if (next_path_ == paths_.size()) return false;
  file_ = std::make_unique<File>(paths_[next_path_++]);
  line_ = 0;
  at_start_ = true;
  document_ended_ = true;
  continues_ = false;
  return true;
}

std::int64_t TextReader::compressed_now() const {
  return file_ ? std::max<std::int64_t>(0, gzoffset(file_->handle)) : 0;
}

/// Appends to the buffer, dropping what has been handed out; false at the end of the file.
bool TextReader::fill() {
  buffer_.erase(0, position_);
  position_ = 0;
  std::size_t const before = buffer_.size();
  buffer_.resize(before + longest_line);
  int const got = gzread(file_->handle, buffer_.data() + before, static_cast<unsigned>(longest_line));
  buffer_.resize(before + static_cast<std::size_t>(std::max(got, 0)));
  int code = Z_OK;
  char const* const message = gzerror(file_->handle, &code);
  // A truncated member reads to its end without a negative count; only the code tells.
  if (got < 0 || code == Z_BUF_ERROR)
    throw InputError(file_->path + ":" + std::to_string(line_ + 1) + ": reading stops here, the file is damaged" +
                     (code == Z_BUF_ERROR ? " (it ends early)" : std::string(" (") + message + ")"));
  if (std::exchange(at_start_, false))
    if (auto const fault = other_encoding(buffer_); !fault.empty()) throw InputError(file_->path + ": " + fault);
  return got > 0;
}

void TextReader::take_line(std::string_view line, TextBlock& block) {
  if (is_blank(line)) {
    // What is left of a line that was cut ends no document.
    if (!continues_) document_ended_ = true;
    return;
  }
  if (block.lines.empty()) block.first_line_name = file_->path + ":" + std::to_string(line_);
  block.lines.push_back({block.text.size(), line.size(), document_ended_});
  block.text.append(line);
  block.text.push_back('\n');
  document_ended_ = false;
}

bool TextReader::next(TextBlock& block) {
  block.text.clear();
  block.lines.clear();
  while (block.text.size() < block_bytes) {
    if (!file_ && !open_next()) break;
    auto const rest = std::string_view(buffer_).substr(position_);
    if (auto const feed = rest.substr(0, longest_line).find('\n'); feed != std::string_view::npos) {
      ++line_;
      take_line(rest.substr(0, feed), block);
      position_ += feed + 1;
      continues_ = false;
      continue;
    }
    if (rest.size() > longest_line) {
      std::size_t cut = longest_line;
      while (cut > longest_line / 2 && !is_space(rest[cut - 1])) --cut;
      if (cut <= longest_line / 2) {
        // No space: at least not inside a character.
        cut = longest_line;
        while (cut > longest_line - 4 && (static_cast<unsigned char>(rest[cut]) & 0xC0) == 0x80) --cut;
      }
      take_line(rest.substr(0, cut), block);
      position_ += cut;
      continues_ = true;
      continue;
    }
    if (fill()) continue;
    if (position_ < buffer_.size()) {
      ++line_;
      take_line(std::string_view(buffer_).substr(position_), block);
    }
    buffer_.clear();
    position_ = 0;
    if (!open_next()) break;
  }
  return !block.lines.empty();
}

std::size_t sentence_end(std::string_view text, std::size_t begin) {
  static constexpr std::string_view closers[] = {"\"", "'", ")", "]", "\xE2\x80\x9D", "\xE2\x80\x99", "\xC2\xBB"};
  std::size_t at = begin;
  while ((at = text.find_first_of(".!?", at)) != std::string_view::npos) {
    std::size_t const mark = at;
    while (at < text.size() && (text[at] == '.' || text[at] == '!' || text[at] == '?')) ++at;
    for (bool closed = true; closed;) {
      closed = false;
      for (auto const closer : closers)
        if (text.substr(at).starts_with(closer)) {
          at += closer.size();
          closed = true;
        }
    }
    if (at >= text.size()) break;
    if (!is_space(text[at])) continue;
    bool const initial = text[mark] == '.' && mark > begin && text[mark - 1] >= 'A' && text[mark - 1] <= 'Z' &&
                         (mark - 1 == begin || text[mark - 2] == ' ' || text[mark - 2] == '.');
    std::size_t next = at;
    while (next < text.size() && is_space(text[next])) ++next;
    if (next == text.size()) break;
    if (!initial && !(text[next] >= 'a' && text[next] <= 'z')) return at;
  }
  return text.size();
}

}  // namespace bellwether::input
