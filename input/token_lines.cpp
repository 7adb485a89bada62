// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/token_lines.hpp"

#include "core/error.hpp"
#include "input/ordered_pipeline.hpp"

#include <charconv>
#include <memory>

namespace bellwether::input {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

struct Written {
  std::string text;
  LineCount count;
};

/// Whole lines, about block_bytes at a time; the last may lack its line feed.
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
      if (got == 0) {
        if (std::ferror(file_) != 0) throw RuntimeError("reading the text failed");
        return !block.empty();
      }
      // Only what was read now can hold the last line feed: a long line is not searched again and again.
      auto const feed = std::string_view(block).substr(before).rfind('\n');
      if (feed == std::string_view::npos) continue;
      rest_.assign(block, before + feed + 1);
      block.resize(before + feed + 1);
      return true;
    }
  }

 private:
  std::FILE* file_;
  std::string rest_;
};

class LineWorker {
 public:
  explicit LineWorker(TokenizerTables const& tables)
      : tokenizer_(std::make_unique<Tokenizer>(tables, WrittenSpecials::tokens)) {}

  Written operator()(std::string const& block) {
    Written written;
    written.text.reserve(block.size() * 2);
    std::string_view rest = block;
    while (!rest.empty()) {
      auto const end = rest.find('\n');
      ids_.clear();
      tokenizer_->encode(rest.substr(0, end), ids_);
      append(written.text);
      ++written.count.lines;
      written.count.tokens += static_cast<std::int64_t>(ids_.size());
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return written;
  }

 private:
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
};

}  // namespace

LineCount tokenize_lines(TokenizerTables const& tables, std::FILE* in, std::FILE* out, int threads) {
  LineBlocks blocks(in);
  LineCount total;
  run_ordered<std::string, Written>(
      threads, [&](std::string& block) { return blocks.next(block); }, [&] { return LineWorker(tables); },
      [&](Written&& written) {
        if (std::fwrite(written.text.data(), 1, written.text.size(), out) != written.text.size())
          throw RuntimeError("writing the ids failed");
        total.lines += written.count.lines;
        total.tokens += written.count.tokens;
      });
  if (std::fflush(out) != 0) throw RuntimeError("writing the ids failed");
  return total;
}

}  // namespace bellwether::input
