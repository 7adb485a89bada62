// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare.hpp"

#include "core/error.hpp"
#include "input/ordered_pipeline.hpp"
#include "input/partial_folder.hpp"
#include "input/shard_set_writer.hpp"
#include "input/text_reader.hpp"
#include "input/vocabulary_trainer.hpp"
#include "input/wordpiece.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

namespace bellwether::input {

namespace {

namespace fs = std::filesystem;

struct TokenSegment {
  std::uint32_t begin, count;  ///< in TokenBlock::ids
  bool starts_document, heldout;
};

struct TokenBlock {
  std::vector<std::int32_t> ids;
  std::vector<TokenSegment> segments;
  std::int64_t unknown = 0, invalid_lines = 0, bytes_read = 0;
  std::string first_invalid;
};

struct ReadBlock {
  TextBlock text;
  std::int64_t bytes_read = 0;
};

/// Text to segments of ids, on one thread.
class SegmentWorker {
 public:
  SegmentWorker(TokenizerTables const& tables, PrepareOptions const& options)
      : tokenizer_(std::make_unique<Tokenizer>(tables, WrittenSpecials::characters)),
        options_(&options),
        unknown_(tables.vocabulary().special().unknown) {}

  TokenBlock operator()(ReadBlock const& read) {
    TokenBlock block;
    block.bytes_read = read.bytes_read;
    auto const& lines = read.text.lines;
    for (std::size_t i = 0; i < lines.size();) {
      std::string_view text = read.text.line(lines[i]);
      std::size_t next = i + 1;
      if (options_->wrapped) {
        // Lines lie one after the other, a line feed between them: what a document has of this block is one text.
        while (next < lines.size() && !lines[next].starts_document) ++next;
        text = std::string_view(read.text.text)
                   .substr(lines[i].begin, lines[next - 1].begin + lines[next - 1].size - lines[i].begin);
      }
      if (!is_valid_utf8(text)) {
        if (block.invalid_lines++ == 0) block.first_invalid = read.text.first_line_name;
      }
      add_text(text, lines[i].starts_document, read.text.line(lines[i]), block);
      i = next;
    }
    block.unknown = std::count(block.ids.begin(), block.ids.end(), unknown_);
    return block;
  }

 private:
  void add_text(std::string_view text, bool starts_document, std::string_view first_line, TokenBlock& block) {
    bool const heldout =
        starts_document && options_->heldout > 0 &&
        static_cast<double>(XXH3_64bits_withSeed(first_line.data(), first_line.size(), options_->seed)) * 0x1p-64 <
            options_->heldout;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t const end = sentence_end(text, at);
      std::size_t const before = block.ids.size();
      tokenizer_->encode(text.substr(at, end - at), block.ids);
      at = end;
      auto const count = block.ids.size() - before;
      // A segment without tokens is kept where it opens a document: the mark must not be lost.
      if (count > 0 || starts_document)
        block.segments.push_back(
            {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(count), starts_document, heldout});
      starts_document = false;
    }
  }

  std::unique_ptr<Tokenizer> tokenizer_;
  PrepareOptions const* options_;
  std::int32_t unknown_;
};

/// Collects the documents of one set in a window and writes it whenever it is full.
class SetBuilder {
 public:
  /// `poll` is called at least every few thousand tokens; what it throws ends the work.
  SetBuilder(ShardSetWriter writer, PrepareOptions const& options, std::function<void()> poll)
      : writer_(std::move(writer)),
        window_(options.sequence_length - 3),
        limit_(options.window_tokens),
        poll_(std::move(poll)) {}

  void start_document() {
    if (window_.tokens() >= limit_) flush();
    window_.start_document();
  }
  void add(std::span<std::int32_t const> ids) {
    // A document far longer than the window is cut; the rest is another document.
    if (window_.tokens() >= 2 * limit_) flush();
    window_.add_segment(ids);
  }
  SetSummary finish() {
    flush();
    writer_.close();
    return {documents_, writer_.rows(), writer_.shards(), writer_.row_tokens(), writer_.random_next(), lone_rows_};
  }

 private:
  void flush() {
    auto const before = writer_.rows();
    documents_ += window_.documents();
    writer_.write(window_, poll_);
    if (window_.documents() == 1) lone_rows_ += writer_.rows() - before;
    window_.clear();
  }
  ShardSetWriter writer_;
  DocumentWindow window_;
  std::int64_t limit_, documents_ = 0, lone_rows_ = 0;
  std::function<void()> poll_;
};

RowRule row_rule(PrepareOptions const& options, Vocabulary const& vocabulary) {
  auto const& s = vocabulary.special();
  SpecialIds const special{s.classify, s.separate, s.mask};
  auto const share = static_cast<std::int64_t>(std::ceil(0.15 * static_cast<double>(options.sequence_length)));
  std::int64_t const predictions = options.predictions > 0 ? options.predictions : (share + 3) / 4 * 4;
  return {.pairs = {.sequence_length = options.sequence_length},
          .masking = {.maximum = predictions, .vocabulary = vocabulary.size(), .special = special},
          .format = {.sequence_length = options.sequence_length,
                     .masked_length = predictions,
                     .vocabulary = vocabulary.size(),
                     .static_masks = options.static_masks,
                     .special = special},
          .duplicates = options.duplicates,
          .shard_rows = options.shard_rows,
          .seed = options.seed};
}

/// \throws InputError naming each text that is a pipe: words are counted in a first pass over the texts.
void require_regular(std::vector<std::string> const& texts) {
  std::vector<std::string> faults;
  for (auto const& text : texts)
    if (!fs::is_regular_file(text))
      faults.push_back(text + ": is no regular file, but --train-vocab reads the text twice; a file, or --vocab");
  if (!faults.empty()) throw InputError(std::move(faults));
}

/// Thrown through the pipeline when the user interrupts; caught in prepare().
struct Stopped {};

}  // namespace

PrepareSummary prepare(PrepareOptions const& options, PrepareHooks const& hooks) {
  bool const trains = options.trained_vocabulary > 0;
  require(trains || !options.vocabulary.empty(), "a vocabulary is either read or trained");
  if (options.predictions > options.sequence_length - 3)
    throw InputError("--max-predictions " + std::to_string(options.predictions) + ": at most " +
                     std::to_string(options.sequence_length - 3) + ", the tokens of a row but [CLS] and two [SEP]");
  // Not a number fails this test, too.
  if (!(options.heldout >= 0 && options.heldout <= 0.9))
    throw InputError("--heldout: the share of documents to hold out; allowed: a number from 0 to 0.9");
  require(!options.out.empty() || (trains && !options.vocabulary.empty()), "there is something to write");
  auto const poll = [&] {
    if (hooks.stop && hooks.stop()) throw Stopped();
  };
  auto const tell = [&](std::string_view stage, std::int64_t read, std::int64_t total) {
    poll();
    if (hooks.progress) hooks.progress({stage, read, total});
  };
  PrepareSummary summary;
  TextReader reader(options.texts);
  std::optional<Vocabulary> vocabulary;
  if (!trains) vocabulary.emplace(Vocabulary::read(options.vocabulary));
  if (trains) require_regular(options.texts);
  std::optional<PartialFile> trained;
  if (trains && !options.vocabulary.empty())
    trained.emplace(options.vocabulary, "exists already; --vocab with --train-vocab must name a new file");
  std::optional<PartialFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out);
  try {
    if (trains) {
      auto const counts = count_words(options.texts, options.threads, [&](std::int64_t read, std::int64_t total) {
        tell("counting words", read, total);
      });
      tell("training the vocabulary", 0, 0);
      vocabulary.emplace(train_vocabulary(counts, {.size = options.trained_vocabulary}, poll), "trained vocabulary");
    }
    std::vector<std::string> tokens;
    for (std::int32_t id = 0; id < vocabulary->size(); ++id) tokens.push_back(vocabulary->token(id));
    summary.vocabulary = vocabulary->size();
    if (trained)
      for (auto const& token : tokens) trained->write(token + '\n');
    if (!folder) {
      trained->keep();
      return summary;
    }
    write_vocabulary(folder->path() + "/vocab.txt", tokens);

    TokenizerTables const tables(*vocabulary);
    auto rule = row_rule(options, *vocabulary);
    SetBuilder train(ShardSetWriter(folder->path(), "train", rule), options, poll);
    std::optional<SetBuilder> heldout;
    if (options.heldout > 0) {
      // Far from the numbers of the training rows: other masks, other pairs.
      rule.first_row = std::int64_t{1} << 48;
      rule.first_window = std::int64_t{1} << 31;
      heldout.emplace(ShardSetWriter(folder->path() + "/heldout", "heldout", rule), options, poll);
    }
    SetBuilder* current = &train;
    run_ordered<ReadBlock, TokenBlock>(
        options.threads,
        [&](ReadBlock& block) {
          bool const more = reader.next(block.text);
          block.bytes_read = reader.bytes_read();
          return more;
        },
        [&] { return SegmentWorker(tables, options); },
        [&](TokenBlock&& block) {
          for (auto const& segment : block.segments) {
            if (segment.starts_document) {
              current = segment.heldout && heldout ? &*heldout : &train;
              current->start_document();
            }
            current->add(std::span<std::int32_t const>(block.ids).subspan(segment.begin, segment.count));
          }
          summary.tokens += static_cast<std::int64_t>(block.ids.size());
          summary.unknown += block.unknown;
          if (summary.invalid_lines == 0) summary.first_invalid = block.first_invalid;
          summary.invalid_lines += block.invalid_lines;
          tell("writing rows", block.bytes_read, reader.bytes_total());
        });
    summary.train = train.finish();
    if (heldout) summary.heldout = heldout->finish();
  } catch (Stopped const&) {
    summary.stopped = true;
    return summary;
  }
  if (summary.train.rows == 0)
    throw InputError(options.texts.front() + ": no row for training comes of the texts; text with words is needed");
  if (trained) trained->keep();
  try {
    folder->keep();
  } catch (RuntimeError const&) {
    if (trained) trained->take_back();
    throw;
  }
  return summary;
}

}  // namespace bellwether::input
