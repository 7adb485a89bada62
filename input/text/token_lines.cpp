// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/token_lines.hpp"

#include "core/system/error.hpp"
#include "input/text/markup_watch.hpp"
#include "input/text/text_kind.hpp"
#include "input/threads/ordered_pipeline.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace bellwether::input {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

struct Written {
  std::string text;
  LineCount count;
};

/// An error for a failed read or write, with the system's reason.
RuntimeError failed(std::string const& what) { return RuntimeError(what + ": " + std::strerror(errno)); }

/// Reads whole lines, about block_bytes at a time. The last line may lack its line feed.
class LineBlocks {
 public:
  explicit LineBlocks(std::FILE* file) : file_(file) {}
  bool next(std::string& block) {
    block = std::move(rest_);
    rest_.clear();
    for (;;) {
      std::size_t const before = block.size();
      block.resize(before + block_bytes);
      std::size_t const got = std::fread(block.data() + before, 1, block_bytes, file_);
      block.resize(before + got);
      check(std::string_view(block).substr(before));
      if (got == 0) {
        watch_.finish();
        if (std::ferror(file_) != 0) throw failed("standard input: cannot be read");
        return !block.empty();
      }
      // Search only the new bytes for a line end, so that a long line is not searched repeatedly.
      auto const end = last_line_end(std::string_view(block).substr(before));
      if (end == 0) continue;
      rest_.assign(block, before + end);
      block.resize(before + end);
      return true;
    }
  }

  /// Returns warnings about parts that look like markup, once next() has returned false.
  std::vector<std::string> markup() const {
    MarkupWarnings warnings;
    warnings.add("standard input", watch_.findings());
    return warnings.texts();
  }

 private:
  /// \throws InputError if `bytes`, just read, are not text.
  void check(std::string_view bytes) {
    auto const fault = at_start_ ? text_fault(bytes, Wrapping::none, "FILE", "bellwether tokenize --vocab VOCABULARY")
                                 : stretch_fault(bytes, "FILE");
    if (!fault.empty()) throw InputError("standard input " + fault);
    watch_.add(bytes);
    at_start_ = false;
  }

  /// Returns the offset after the last complete line end; 0 if there is none. A carriage return at the end may be
  /// incomplete.
  static std::size_t last_line_end(std::string_view text) {
    if (auto const feed = text.rfind('\n'); feed != std::string_view::npos) return feed + 1;
    for (auto at = text.rfind('\r'); at != std::string_view::npos && at > 0; at = text.rfind('\r', at - 1))
      if (at + 1 < text.size() && text[at + 1] != '\r') return at + 1;
    return 0;
  }

  std::FILE* file_;
  std::string rest_;
  MarkupWatch watch_;
  bool at_start_ = true;
};

class LineWorker {
 public:
  explicit LineWorker(TokenizerTables const& tables)
      : tokenizer_(std::make_unique<Tokenizer>(tables, WrittenSpecials::tokens)),
        vocabulary_(&tables.vocabulary()),
        unknown_(tables.vocabulary().special().unknown) {}

  Written operator()(std::string const& block) {
    Written written;
    auto& count = written.count;
    std::int64_t const overlong_before = tokenizer_->overlong_bytes();
    written.text.reserve(block.size() * 2);
    std::string_view rest = block;
    while (!rest.empty()) {
      auto const line = take_line(rest);
      ids_.clear();
      tokenizer_->encode(line, ids_);
      append(written.text);
      ++count.lines;
      count.tokens += static_cast<std::int64_t>(ids_.size());
      count.unknown += std::ranges::count(ids_, unknown_);
      count.words += std::ranges::count_if(ids_, [&](auto id) { return vocabulary_->begins_word(id); });
      if (!is_valid_utf8(line) && count.invalid_lines++ == 0) count.first_invalid = count.lines;
    }
    count.bytes = static_cast<std::int64_t>(block.size());
    count.overlong_bytes = tokenizer_->overlong_bytes() - overlong_before;
    return written;
  }

 private:
  /// Removes the first line from `rest`. It ends with a line feed, a carriage return, or carriage returns and a line
  /// feed.
  static std::string_view take_line(std::string_view& rest) {
    auto const end = rest.find_first_of("\r\n");
    auto const line = rest.substr(0, end);
    if (end == std::string_view::npos) {
      rest = {};
      return line;
    }
    auto const feed = rest.find_first_not_of('\r', end);
    bool const fed = feed != std::string_view::npos && rest[feed] == '\n';
    rest.remove_prefix(fed ? feed + 1 : end + 1);
    return line;
  }

  void append(std::string& text) {
    char digits[12];
    for (auto const id : ids_) {
      auto* const end = std::to_chars(digits, digits + sizeof digits - 1, id).ptr;
      *end = ' ';
      text.append(digits, end + 1);
    }
    if (ids_.empty())
      text.push_back('\n');
    else
      text.back() = '\n';
  }

  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<std::int32_t> ids_;
  Vocabulary const* vocabulary_;
  std::int32_t unknown_;
};

}  // namespace

LineCount tokenize_lines(TokenizerTables const& tables, std::FILE* in, std::FILE* out, int threads) {
  LineBlocks blocks(in);
  LineCount total;
  run_ordered<std::string, Written>(
      threads, [&](std::string& block) { return blocks.next(block); }, [&] { return LineWorker(tables); },
      [&](Written&& written) {
        if (std::fwrite(written.text.data(), 1, written.text.size(), out) != written.text.size())
          throw failed("standard output: cannot be written");
        auto const& count = written.count;
        if (total.invalid_lines == 0 && count.invalid_lines > 0)
          total.first_invalid = total.lines + count.first_invalid;
        total.lines += count.lines;
        total.tokens += count.tokens;
        total.unknown += count.unknown;
        total.words += count.words;
        total.bytes += count.bytes;
        total.overlong_bytes += count.overlong_bytes;
        total.invalid_lines += count.invalid_lines;
      });
  if (std::fflush(out) != 0) throw failed("standard output: cannot be written");
  total.markup = blocks.markup();
  return total;
}

}  // namespace bellwether::input
