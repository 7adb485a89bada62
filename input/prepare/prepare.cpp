// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/prepare.hpp"

#include "core/system/error.hpp"
#include "input/files/partial_folder.hpp"
#include "input/prepare/document_splitter.hpp"
#include "input/prepare/line_starts.hpp"
#include "input/prepare/prepare_checks.hpp"
#include "input/prepare/repeated_lines.hpp"
#include "input/prepare/segment_worker.hpp"
#include "input/prepare/set_builder.hpp"
#include "input/shards/context_free_loss.hpp"
#include "input/text/text_reader.hpp"
#include "input/text/text_source.hpp"
#include "input/text/vocabulary_checksum.hpp"
#include "input/text/vocabulary_trainer.hpp"
#include "input/threads/ordered_pipeline.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

namespace bellwether::input {

namespace {

namespace fs = std::filesystem;

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
                     .special = special,
                     .vocabulary_checksum = vocabulary_checksum(vocabulary)},
          .duplicates = options.duplicates,
          .shard_rows = options.shard_rows,
          .seed = options.seed};
}

/// \throws InputError naming each text that is a pipe: counting words requires an extra pass over the texts.
void require_regular(std::vector<std::string> const& texts) {
  std::vector<std::string> faults;
  for (auto const& text : texts)
    if (text == standard_input)
      faults.push_back("standard input: --train-vocab reads the text twice; give a file, or a vocabulary with --vocab");
    else if (!fs::is_regular_file(text))
      faults.push_back(
          text +
          ": is not a regular file, but --train-vocab reads the text twice; give a file, or a vocabulary with --vocab");
  if (!faults.empty()) throw InputError(std::move(faults));
}

void note_alphabet(CorpusFacts& facts, AlphabetCover const& alphabet) {
  facts.alphabet = alphabet.kept;
  facts.distinct = alphabet.distinct;
  facts.characters = alphabet.characters;
  facts.rare = alphabet.lost;
}

/// Thrown through the pipeline when the user interrupts; caught in prepare().
struct Stopped {};

/// The two sets of shards that are made from the texts.
struct Sets {
  SetBuilder train;
  std::optional<SetBuilder> heldout;

  Sets(PrepareOptions const& options, Vocabulary const& vocabulary, std::string const& folder,
       std::function<void()> const& poll)
      : train(ShardSetWriter(folder, "train", row_rule(options, vocabulary)), options.window_tokens, poll) {
    if (options.heldout == 0) return;
    auto rule = row_rule(options, vocabulary);
    // Use numbers far from those of the training rows, so that masks and pairs differ.
    rule.first_row = std::int64_t{1} << 48;
    rule.first_window = std::int64_t{1} << 31;
    heldout.emplace(ShardSetWriter(folder + "/heldout", "heldout", rule), options.window_tokens, poll);
  }
};

/// Reads all texts, tokenizes them on several threads and writes their rows. `tell` is called between blocks.
class CorpusPass {
 public:
  CorpusPass(PrepareOptions const& options, TextReader& reader, Vocabulary const& vocabulary, Sets& sets)
      : options_(options),
        reader_(reader),
        tables_(vocabulary),
        sets_(sets),
        splitter_(options.heldout, options.seed,
                  {.begin =
                       [this](bool heldout) {
                         current_ = heldout ? &*sets_.heldout : &sets_.train;
                         current_->start_document();
                       },
                   .add = [this](std::span<std::int32_t const> ids) { current_->add(ids); }}) {}

  void run(std::function<void(std::int64_t bytes_read)> const& tell) {
    struct Read {
      TextBlock text;
      std::int64_t bytes_read = 0;
    };
    run_ordered<Read, TokenBlock>(
        options_.threads,
        [&](Read& block) {
          bool const more = reader_.next(block.text);
          block.bytes_read = reader_.bytes_read();
          return more;
        },
        [&] {
          return [worker = SegmentWorker(tables_, options_.wrapped)](Read const& block) mutable {
            TokenBlock tokens = worker(block.text);
            tokens.bytes_read = block.bytes_read;
            return tokens;
          };
        },
        [&](TokenBlock&& block) {
          take(block);
          tell(block.bytes_read);
        });
    splitter_.finish();
    sets_.train.finish();
    if (sets_.heldout) sets_.heldout->finish();
  }

  /// Fills in the facts of both sets and the warnings about the texts. `alphabet` is empty if none was trained.
  void summarise(Vocabulary const& vocabulary, AlphabetCover const& alphabet, PrepareSummary& summary) const {
    auto const& s = vocabulary.special();
    CorpusFacts whole;
    note_alphabet(whole, alphabet);
    whole.bytes = bytes_;
    whole.overlong = overlong_bytes_;
    whole.letters = characters_.letters;
    whole.accents = characters_.accents;
    whole.signs = characters_.signs;
    whole.unreadable = characters_.unreadable;
    whole.separators = characters_.separators;
    whole.longest = splitter_.longest();
    whole.median = splitter_.median();
    whole.duplicates = splitter_.duplicates();
    whole.repeated = repeated_.share();
    whole.vocabulary = vocabulary.size();
    whole.vocabulary_asked = options_.trained_vocabulary;
    whole.cased = vocabulary.cased_tokens();
    whole.accented = vocabulary.accented_tokens();
    auto const of_set = [&](SetBuilder const& set) {
      auto facts = set.counted(whole);
      auto const& frequencies = set.frequencies();
      facts.unknown = frequencies[static_cast<std::size_t>(s.unknown)];
      for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
        auto const count = frequencies[static_cast<std::size_t>(id)];
        if (!vocabulary.has_letter(id)) facts.letterless += count;
        if (vocabulary.begins_word(id)) facts.words += count;
      }
      facts.frequency_loss = frequency_loss(frequencies, sets_.train.frequencies());
      facts.context_free_loss = context_free_loss(frequencies, sets_.train.frequencies(), s.mask);
      return facts;
    };
    summary.train = of_set(sets_.train);
    if (sets_.heldout) summary.heldout = of_set(*sets_.heldout);
    auto& texts = summary.warnings;
    texts = reader_.warnings();
    if (invalid_lines_ > 0)
      texts.push_back(std::to_string(invalid_lines_) + (invalid_lines_ == 1 ? " line holds" : " lines hold") +
                      " bytes that are not UTF-8, which were left out; the first is " +
                      reader_.describe(first_invalid_) +
                      "; if letters are missing now, the text has another encoding: convert it, for example by iconv "
                      "-f ISO-8859-1 -t UTF-8 FILE");
    if (auto wrapped = wrapped_warning(starts_, reader_.describe(starts_.first_in_sentence())); !wrapped.empty())
      texts.push_back(std::move(wrapped));
    CorpusPlaces places;
    if (splitter_.longest() > 0) places.longest = reader_.describe(splitter_.longest_at());
    if (auto const most = repeated_.most_at()) places.repeated = reader_.describe(*most);
    auto const found = corpus_warnings(summary.train, places);
    texts.insert(texts.end(), found.begin(), found.end());
    if (sets_.heldout) warn_of_heldout(summary);
  }

 private:
  /// Warns if the share of the text differs from the share of the documents, because a few long documents dominate.
  void warn_of_share(PrepareSummary& summary) const {
    auto const held = static_cast<double>(summary.heldout.tokens),
               all = held + static_cast<double>(summary.train.tokens);
    double const share = held / all, asked = options_.heldout;
    if (share <= 2 * asked + 0.05 && share >= asked / 5) return;
    auto const percent = [](double value) {
      char text[32];
      std::snprintf(text, sizeof text, "%.1f %%", 100 * value);
      return std::string(text);
    };
    summary.warnings.push_back(percent(share) + " of the tokens are held out, but --heldout requested " +
                               percent(asked) +
                               " of the documents: few documents hold most of the text; put blank lines between their "
                               "parts, or choose another --seed");
  }

  void warn_of_heldout(PrepareSummary& summary) const {
    auto const &train = summary.train, &heldout = summary.heldout;
    // Pretend that half of the next sentences are random, as usual: that warning is already given for the training set.
    CorpusFacts const lone{.documents = heldout.documents,
                           .rows = heldout.rows,
                           .random_next = heldout.rows / 2,
                           .lone_rows = heldout.lone_rows};
    for (auto const& text : corpus_warnings(lone)) summary.warnings.push_back("held out: " + text);
    if (heldout.rows > 0) return warn_of_share(summary);
    auto const documents = [](std::int64_t count) {
      return std::to_string(count) + (count == 1 ? " document" : " documents");
    };
    summary.warnings.push_back("nothing is held out: --heldout chose " + documents(heldout.documents) + " of " +
                               documents(heldout.documents + train.documents) +
                               ", which gave no rows; choose a larger share, more text or another --seed");
  }

  void take(TokenBlock const& block) {
    std::span<std::int32_t const> rest(block.ids);
    for (auto const& part : block.parts) {
      if (part.starts_document) splitter_.start_document(part.place);
      splitter_.add(part.lines);
      for (auto const& line : part.lines) {
        bytes_ += line.bytes;
        repeated_.add(line);
      }
      for (auto const count : part.sentences) {
        splitter_.add(rest.first(count));
        rest = rest.subspan(count);
      }
    }
    if (invalid_lines_ == 0) first_invalid_ = block.first_invalid;
    invalid_lines_ += block.invalid_lines;
    overlong_bytes_ += block.overlong_bytes;
    characters_ += block.characters;
    starts_ += block.starts;
  }

  PrepareOptions const& options_;
  TextReader& reader_;
  TokenizerTables tables_;
  Sets& sets_;
  SetBuilder* current_ = nullptr;
  DocumentSplitter splitter_;
  RepeatedLines repeated_;
  CharacterCounts characters_;
  LineStarts starts_;
  std::int64_t bytes_ = 0, overlong_bytes_ = 0, invalid_lines_ = 0;
  TextPlace first_invalid_;
};

/// Stores the facts in every shard of `set`.
void record(SetBuilder const& set, CorpusFacts const& facts) {
  for (auto const& path : set.writer().paths()) write_corpus_facts(path, facts);
}

}  // namespace

PrepareSummary prepare(PrepareOptions const& options, PrepareHooks const& hooks) {
  check_options(options);
  bool const trains = options.trained_vocabulary > 0;
  auto const poll = [&] {
    if (hooks.stop && hooks.stop()) throw Stopped();
  };
  auto const tell = [&](std::string_view stage, std::int64_t read, std::int64_t total) {
    poll();
    if (hooks.progress) hooks.progress({stage, read, total});
  };
  PrepareSummary summary;
  TextReader reader(options.texts, poll);
  std::optional<Vocabulary> vocabulary;
  AlphabetCover alphabet;
  try {
    if (!trains) vocabulary.emplace(Vocabulary::read(options.vocabulary, poll));
  } catch (Stopped const&) {
    summary.stopped = true;
    return summary;
  }
  if (trains) require_regular(options.texts);
  std::optional<PartialFile> trained;
  if (trains && !options.vocabulary.empty())
    trained.emplace(options.vocabulary, "exists already; --vocab with --train-vocab must name a new file");
  std::optional<PartialFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out);
  try {
    if (trains) {
      TextReader counted(options.texts, poll);
      auto const counts = count_words(counted, options.threads, [&](std::int64_t read, std::int64_t total) {
        tell("counting words", read, total);
      });
      summary.warnings = counted.warnings();  // if shards are made, too, their pass finds the same
      tell("training the vocabulary", 0, 0);
      TrainerRule rule{.size = options.trained_vocabulary};
      if (options.alphabet > 0) rule.alphabet = options.alphabet;
      auto trained_tokens = train_vocabulary(counts, rule, poll);
      alphabet = trained_tokens.alphabet;
      vocabulary.emplace(std::move(trained_tokens.tokens), "trained vocabulary");
    }
    std::vector<std::string> tokens;
    for (std::int32_t id = 0; id < vocabulary->size(); ++id) tokens.push_back(vocabulary->token(id));
    summary.vocabulary = vocabulary->size();
    if (trained)
      for (auto const& token : tokens) trained->write(token + '\n');
    if (!folder) {
      summary.train.vocabulary = summary.vocabulary;
      summary.train.vocabulary_asked = options.trained_vocabulary;
      note_alphabet(summary.train, alphabet);
      auto const found = corpus_warnings(summary.train);
      summary.warnings.insert(summary.warnings.end(), found.begin(), found.end());
      if (options.strict && !summary.warnings.empty()) throw InputError(summary.warnings);
      trained->keep();
      return summary;
    }
    write_vocabulary(folder->path() + "/vocab.txt", tokens);
    Sets sets(options, *vocabulary, folder->path(), poll);
    CorpusPass pass(options, reader, *vocabulary, sets);
    pass.run([&](std::int64_t read) { tell("writing rows", read, reader.bytes_total()); });
    if (sets.train.writer().rows() == 0)
      throw InputError(options.texts.front() + ": the texts give no row for training; " +
                       (sets.heldout && sets.heldout->writer().rows() > 0
                            ? "--heldout chose all of them; choose a smaller share, more documents or another --seed"
                            : "text with words is needed"));
    pass.summarise(*vocabulary, alphabet, summary);
    if (options.strict && !summary.warnings.empty()) throw InputError(summary.warnings);
    record(sets.train, summary.train);
    if (sets.heldout) record(*sets.heldout, summary.heldout);
    auto const totals = [](SetBuilder const& set, std::int64_t& shards, std::int64_t& row_tokens) {
      shards = set.writer().shards();
      row_tokens = set.writer().row_tokens();
    };
    totals(sets.train, summary.train_shards, summary.train_row_tokens);
    if (sets.heldout) totals(*sets.heldout, summary.heldout_shards, summary.heldout_row_tokens);
  } catch (Stopped const&) {
    summary.stopped = true;
    return summary;
  }
  if (trained) trained->keep();
  try {
    folder->keep();
  } catch (RuntimeError const&) {
    if (trained) trained->roll_back();
    throw;
  }
  return summary;
}

}  // namespace bellwether::input
