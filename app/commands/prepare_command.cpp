// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/interrupt.hpp"
#include "core/system/clock.hpp"
#include "core/system/error.hpp"
#include "input/prepare/prepare.hpp"
#include "input/text/odd_characters.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <thread>

namespace bellwether::app {
namespace {

/// Shows progress on one line of a terminal, at most ten times per second. Prints nothing if standard error is not a
/// terminal.
class PrepareLine {
 public:
  void show(input::PrepareProgress const& progress) {
    if (!terminal_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(100);
    std::string share;
    if (progress.bytes_total > 0) share = " " + std::to_string(100 * progress.bytes_read / progress.bytes_total) + " %";
    std::cerr << '\r' << progress.stage << share << "\033[K" << std::flush;
  }
  void clear() const {
    if (terminal_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool terminal_ = ::isatty(2) != 0;
  Clock::time_point next_{};
};

void print_set(char const* name, input::CorpusFacts const& set, std::int64_t row_tokens, std::int64_t shards) {
  auto const share = set.rows > 0 ? 100 * set.random_next / set.rows : 0;
  auto const length = set.rows > 0 ? row_tokens / set.rows : 0;
  std::printf("%-9s %s of %s on average from %s in %s, %lld %% with a random next\n", name,
              counted(set.rows, "row").c_str(), counted(length, "token").c_str(),
              counted(set.documents, "document").c_str(), counted(shards, "shard").c_str(),
              static_cast<long long>(share));
}

int run_prepare(input::PrepareOptions const& options) {
  auto const began = Clock::now();
  Interrupt const interrupt;
  PrepareLine line;
  input::PrepareSummary summary;
  try {
    summary = input::prepare(options, {.progress = [&](auto const& progress) { line.show(progress); },
                                       .stop = [&] { return interrupt.requested(); }});
  } catch (...) {
    line.clear();
    throw;
  }
  line.clear();
  if (summary.stopped) {
    std::cerr << "interrupted: nothing was written\n";
    return 128 + interrupt.signal();
  }
  for (auto const& text : summary.warnings) std::cerr << "warning: " << input::with_codes(text) << '\n';
  if (options.out.empty()) {
    std::printf("written   %s, a vocabulary of %lld tokens\n", input::with_codes(options.vocabulary).c_str(),
                static_cast<long long>(summary.vocabulary));
    return 0;
  }
  double const seconds = seconds_since(began);
  auto const tokens = summary.train.tokens + summary.heldout.tokens;
  auto const unknown = summary.train.unknown + summary.heldout.unknown;
  std::printf("text      %lld tokens, %.2f %% unknown to the vocabulary of %lld\n", static_cast<long long>(tokens),
              tokens > 0 ? 100.0 * static_cast<double>(unknown) / static_cast<double>(tokens) : 0.0,
              static_cast<long long>(summary.vocabulary));
  bool const split = options.heldout > 0 && summary.heldout.tokens > 0;
  auto const& predicted = split ? summary.heldout : summary.train;
  std::printf("          word frequencies alone predict %s with a loss of %.2f nats a token\n",
              split ? "the held-out text" : "it", predicted.frequency_loss);
  std::printf("          a model without context reaches %.2f, because masking leaves some predicted tokens visible\n",
              predicted.context_free_loss);
  print_set("train", summary.train, summary.train_row_tokens, summary.train_shards);
  if (options.heldout > 0) print_set("held out", summary.heldout, summary.heldout_row_tokens, summary.heldout_shards);
  std::printf("written   %s in %.1f s\n", input::with_codes(options.out).c_str(), seconds);
  return 0;
}

}  // namespace

void add_prepare(Command program) {
  auto options = std::make_shared<input::PrepareOptions>();
  auto masking = std::make_shared<std::string>("dynamic");
  options->threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  auto const command = program.subcommand("prepare", "Turn text into shards of token ids to train on");
  command
      .option(
          "text", options->texts,
          "text files, plain or .gz, or - for standard input; one paragraph per line, blank lines between documents")
      .required()
      .check(paths())
      .type_name("TEXT");
  command.option("--vocab", options->vocabulary, "vocabulary, one token per line; written if --train-vocab is given")
      .check(paths())
      .type_name("FILE");
  command.option("--train-vocab", options->trained_vocabulary, "train a WordPiece vocabulary of SIZE tokens")
      .check(whole_numbers(6, 1 << 24))
      .type_name("SIZE");
  command
      .option("--alphabet", options->alphabet,
              "keep the N most frequent characters of the text with --train-vocab, 1000 if not given; words with other "
              "characters become [UNK]")
      .check(whole_numbers(1, 0x10FFFF))
      .type_name("N");
  command.option("--out", options->out, "new folder for shards and vocab.txt").check(paths()).type_name("DIR");
  command.option("--sequence-length", options->sequence_length, "tokens per row, including [CLS] and [SEP]")
      .check(whole_numbers(8, 65536))
      .show_default();
  command
      .option("--max-predictions", options->predictions,
              "maximum masked tokens per row; 0: 15 % of the sequence length, rounded up to a multiple of 4")
      .check(whole_numbers(0, 65536))
      .show_default();
  command.option("--duplicate", options->duplicates, "passes over the text, each with different pairs")
      .check(whole_numbers(1, 1000))
      .show_default();
  command.option("--masking", *masking, "dynamic: masks are drawn while training; static: they are drawn now")
      .check(one_of({"dynamic", "static"}))
      .show_default();
  command.option("--heldout", options->heldout, "share of documents for evaluation, written to DIR/heldout")
      .check(numbers(0, 0.9))
      .show_default();
  command.flag("--strict", options->strict, "treat warnings as errors and write nothing");
  command.flag("--wrapped", options->wrapped, "lines are wrapped: a sentence continues over the end of a line");
  command.option("--rows-per-shard", options->shard_rows, "rows per file")
      .check(whole_numbers(1, 1 << 30))
      .show_default();
  command
      .option("--window", options->window_tokens,
              "tokens held in memory: pairs are drawn and rows shuffled among the documents of a window")
      .check(whole_numbers(1, 1 << 29))
      .show_default();
  command.option("--seed", options->seed, "seed of pairs, masks and held-out documents")
      .check(whole_numbers(0, std::numeric_limits<std::int64_t>::max()))
      .show_default();
  command.option("--threads", options->threads, "threads to use").check(whole_numbers(1, 1024)).show_default();
  command.when_given([options, masking] {
    bool const trains = options->trained_vocabulary > 0;
    if (!trains && options->vocabulary.empty())
      throw InputError("a vocabulary is needed: --vocab FILE or --train-vocab SIZE");
    if (options->out.empty() && !(trains && !options->vocabulary.empty()))
      throw InputError("--out DIR is needed, except with --train-vocab SIZE --vocab FILE");
    if (options->out == "-")
      throw InputError("--out -: a folder cannot go to standard output; name a new folder, or ./- for one named -");
    if (trains && options->vocabulary == "-")
      throw InputError(
          "--vocab -: the vocabulary appears only when it is complete; name a new file, or ./- for one named -");
    options->static_masks = *masking == "static";
    return [options](Session&) { return run_prepare(*options); };
  });
}

}  // namespace bellwether::app
