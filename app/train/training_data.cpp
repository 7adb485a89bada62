// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/training_data.hpp"

#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/layout/state_visitor.hpp"
#include "core/system/error.hpp"
#include "input/deck/deck_values.hpp"
#include "input/shards/masking.hpp"
#include "input/shards/trained_passages.hpp"
#include "input/text/vocabulary_checksum.hpp"
#include "input/threads/io_thread.hpp"
#include "model/batch/batch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace bellwether::app {
namespace {

input::StreamGeometry geometry_of(input::Deck const& deck, comm::ProcessGrid const& grid) {
  return {.rank = grid.replica_index(),
          .size = grid.replicas(),
          .global = deck.batch.global,
          .micro = deck.batch.micro,
          .seed = static_cast<std::uint64_t>(deck.run.seed),
          .positions = deck.model.positions,
          .vocabulary = deck.model.vocabulary};
}

/// Collects faults of deck keys before throwing any.
class KeyFaults {
 public:
  /// Runs `open`; its faults become those of `key`.
  void collect(std::string const& key, std::function<void()> const& open) {
    try {
      open();
    } catch (InputError const& error) {
      for (auto const& fault : error.faults()) add(key, fault);
    }
  }
  void add(std::string const& key, std::string const& what) { faults_.push_back(key + ": " + what); }
  void raise() const {
    if (!faults_.empty()) throw InputError(faults_);
  }

 private:
  std::vector<std::string> faults_;
};

/// Checkpoints hold signed integers.
std::int64_t as_state(std::uint64_t checksum) { return static_cast<std::int64_t>(checksum); }

std::int64_t vocabulary_of(input::ShardSetInfo const& info) {
  return as_state(input::checksum_number(info.vocabulary.checksum));
}

std::string described(input::ShardSetInfo const& info) {
  return counted(info.rows, "row") + " in " + counted(std::ssize(info.shards), "shard") + " of checksum " +
         hexadecimal(info.content ^ info.fingerprint);
}

/// Checks that all ranks read the same shards. Each rank opens them on its own, and computes which rows the others
/// take. A folder on a node's local disk may have other contents; ranks would then disagree on the batch.
void require_same_data(comm::RankGroup& group, TrainingData const& data) {
  std::vector<std::string> faults;
  auto const compare = [&](char const* key, input::ShardSetInfo const& info) {
    auto const mine = described(info), zero = broadcast_text(group, mine);
    if (mine != zero)
      faults.push_back(std::string(key) + ": " + mine + ", but " + zero +
                       " on rank 0; allowed: the same shards on every rank");
  };
  compare("data.train", data.stream->info());
  compare("data.heldout", data.heldout.info);
  raise_together(group, faults);
}

}  // namespace

namespace {

/// Returns a warning if the model has far more tokens than the shards' vocabulary. 0: the shards do not record it.
/// Rounding up to a multiple of 128 is usual, because products are then faster.
std::string unused_tokens(std::int64_t model, std::int64_t shards) {
  constexpr std::int64_t rounding = 128;
  if (shards == 0 || model <= shards + shards / 20 + rounding) return "";
  return "model.vocabulary: " + std::to_string(model) + ", but data.train was made with a vocabulary of " +
         std::to_string(shards) + ": " + std::to_string(model - shards) +
         " tokens take memory and time and never occur; set it to " + std::to_string((shards + 7) / 8 * 8);
}

/// Returns a warning if the shards allow fewer masked tokens in a full row than `probability` asks for. Empty if masks
/// are static, or if both shares are equal in a tenth of a percent.
std::string capped_masks(input::ShardSetInfo const& info, double probability) {
  constexpr std::int64_t special_tokens = 3;  // [CLS] and two [SEP], which are never masked
  auto const percent = [](double share) { return input::shortest_number(std::round(1000 * share) / 10) + " %"; };
  auto const length = info.sequence_length, most = info.masked_length, candidates = length - special_tokens;
  auto const wanted =
      input::prediction_count({.probability = probability, .maximum = length, .special = {}}, length, candidates);
  double const share = static_cast<double>(most) / static_cast<double>(length);
  if (info.static_masks || wanted <= most || percent(share) == percent(probability)) return "";
  // Rounded down, so that the value that the message names gives no warning.
  double const fitting = std::floor(1e6 * share) / 1e6;
  return "masks " + percent(share) + " of a full row instead of the " + percent(probability) +
         " of data.mask_probability: the shards allow at most " + counted(most, "masked token") + " in a row of " +
         std::to_string(length) + "; prepare them again with --max-predictions " + std::to_string(wanted) +
         ", or set data.mask_probability to " + input::shortest_number(fitting);
}

/// Returns the warnings of both sets. One call of `prepare` usually makes both, and then one warning is enough.
std::vector<std::string> mask_warnings(TrainingData const& data, double probability) {
  std::vector<std::string> texts;
  auto const train = capped_masks(data.stream->info(), probability);
  auto const heldout = data.heldout.batches.empty() ? std::string() : capped_masks(data.heldout.info, probability);
  if (!train.empty()) texts.push_back("data.train: " + train);
  if (!heldout.empty() && heldout != train) texts.push_back("data.heldout: " + heldout);
  return texts;
}

}  // namespace

model::Capacity TrainingData::capacity(input::BatchConfig const& batch, int replicas) const {
  auto const share = (batch.global + replicas - 1) / replicas;
  auto const& train = stream->info();
  return {.sequences = std::min(batch.micro, share),
          .longest = std::max(train.sequence_length, heldout.info.sequence_length),
          .masked = std::max(train.masked_length, heldout.info.masked_length)};
}

std::int64_t TrainingData::bytes() const {
  std::int64_t sum = stream->buffer_bytes();
  for (auto const& batch : heldout.batches)
    for (auto const& micro_batch : batch.micro_batches) sum += micro_batch.bytes();
  return sum;
}

std::vector<std::string> TrainingData::warnings(input::Deck const& deck) const {
  std::vector<std::string> texts;
  if (stream->info().static_masks && deck.data.dynamic_masking)
    texts.push_back(
        "data.dynamic_masking: true, but data.train holds static masks: every epoch has the same masks, and "
        "data.mask_probability has no effect; set false to confirm");
  auto const tell = [&](char const* key, input::ShardSetInfo const& info) {
    for (auto const& warning : info.warnings) texts.push_back(std::string(key) + ": " + warning);
  };
  tell("data.train", stream->info());
  if (!heldout.batches.empty()) tell("data.heldout", heldout.info);
  // Held-out text is a sample of the same corpus, so its warnings would repeat these.
  for (auto const& warning : stream->info().corpus_warnings) texts.push_back("data.train: " + warning);
  for (auto& text : mask_warnings(*this, deck.data.mask_probability)) texts.push_back(std::move(text));
  if (auto const text = unused_tokens(deck.model.vocabulary, stream->info().vocabulary.tokens); !text.empty())
    texts.push_back(text);
  if (auto const rows = stream->info().rows; deck.batch.global > rows)
    texts.push_back("batch.global: " + std::to_string(deck.batch.global) + ", but data.train has " +
                    std::to_string(rows) + (rows == 1 ? " sequence" : " sequences") +
                    ": every step trains on some of them more than once; lower batch.global, or add text");
  constexpr std::int64_t many_rows = 1000;  // fewer may be a trial
  if (auto const train = stream->info().rows, held = heldout.info.rows; held >= many_rows && held > 4 * train)
    texts.push_back("data.heldout: has " + std::to_string(held) + " sequences, data.train has " +
                    std::to_string(train) + ": the two may be exchanged");
  auto const tell_unmasked = [&](char const* key, input::ShardSetInfo const& info) {
    if (info.unmasked)
      texts.push_back(std::string(key) +
                      ": no masked positions in the first rows of any shard: there are no words to predict, only next "
                      "sentences");
  };
  tell_unmasked("data.train", stream->info());
  if (!heldout.batches.empty()) tell_unmasked("data.heldout", heldout.info);
  auto const asked = deck.statistics.evaluate_sequences;
  if (!heldout.batches.empty() && heldout.info.rows < asked)
    texts.push_back("statistics.evaluate_sequences: " + std::to_string(asked) + ", but data.heldout has " +
                    std::to_string(heldout.info.rows) + " sequences; evaluations use all of them");
  // The user may have corrected a damaged row, as its error message asks.
  if (recorded.content != 0 && recorded.content != as_state(stream->info().content))
    texts.push_back(
        "data.train: the shards have the names and row counts of the checkpoint's, but other rows. Unless only a few "
        "rows were corrected, the run sees some text twice and some never");
  else if (auto const now = stream->info().bytes; recorded.bytes != 0 && recorded.bytes != now)
    texts.push_back("data.train: the shards have " + std::to_string(now) + " bytes, but had " +
                    std::to_string(recorded.bytes) +
                    " when the checkpoint was written; the samples are the same only if their rows are");
  if (recorded.heldout_content != 0 && !heldout.batches.empty() &&
      recorded.heldout_content != as_state(heldout.info.content))
    texts.push_back(
        "data.heldout: the rows differ from those when the checkpoint was written: held-out losses before and after "
        "are not comparable");
  return texts;
}

RunDescription TrainingData::description(std::string const& name) const {
  return {
      .name = name, .frequency_loss = heldout.info.frequency_loss, .context_free_loss = heldout.info.context_free_loss};
}

void TrainingData::visit_state(StateVisitor& visit) {
  auto const& train = stream->info();
  recorded.fingerprint = as_state(train.fingerprint);
  recorded.content = as_state(train.content);
  recorded.bytes = train.bytes;
  recorded.heldout_content = as_state(heldout.info.content);
  if (auto const known = vocabulary_of(train); known != 0) recorded.vocabulary = known;
  visit.scalar({"shards_fingerprint"}, recorded.fingerprint);
  visit.scalar(counter("shards_bytes"), recorded.bytes);
  // Checkpoints of earlier versions lack these.
  auto const scalar = [&](char const* name, std::int64_t& value) {
    if (visit.has(name)) visit.scalar({name}, value);
  };
  scalar("shards_content", recorded.content);
  scalar("heldout_content", recorded.heldout_content);
  scalar("vocabulary_checksum", recorded.vocabulary);
}

void TrainingData::require_recorded() const {
  auto const& train = stream->info();
  if (recorded.fingerprint != as_state(train.fingerprint))
    throw InputError("data.train: not the shards that the checkpoint was trained on");
  // Embeddings belong to token ids: with another vocabulary, nothing that was learned is of use, and a run of days
  // would continue without a message.
  auto const known = vocabulary_of(train);
  if (known != 0 && recorded.vocabulary != 0 && known != recorded.vocabulary)
    throw InputError("data.train: made with a vocabulary of checksum " + train.vocabulary.checksum +
                     ", but the checkpoint was trained on one of checksum " +
                     hexadecimal(static_cast<std::uint64_t>(recorded.vocabulary)) +
                     ": the same ids are other tokens; allowed: shards of that vocabulary");
}

TrainingData open_training_data(input::Deck const& deck, comm::ProcessGrid const& grid, input::IoThread& io) {
  TrainingData data;
  auto const geometry = geometry_of(deck, grid);
  together(grid.world(), [&] {
    KeyFaults faults;
    faults.collect("data.train", [&] {
      data.stream = std::make_unique<input::BatchStream>(io, deck.data.train, deck.data, geometry);
    });
    if (!deck.data.heldout.empty())
      faults.collect("data.heldout", [&] {
        data.heldout =
            input::heldout_batches(io, deck.data.heldout, deck.data, geometry, deck.statistics.evaluate_sequences);
        if (!data.stream) return;
        auto const &train = data.stream->info(), &heldout = data.heldout.info;
        auto const other = input::other_vocabulary(heldout.vocabulary, train.vocabulary, "data.train");
        if (!other.empty()) faults.add("data.heldout", other);
        for (auto const& fault : io.run(input::IoThread::Priority::read_ahead,
                                        [&] { return input::trained_copies(train.shards, heldout.shards); }))
          faults.add("data.heldout", fault);
        // This takes seconds of reading, and only rank 0 prints warnings.
        if (grid.world().rank() != 0) return;
        auto const doubt = io.run(input::IoThread::Priority::read_ahead,
                                  [&] { return input::trained_passages(train.shards, heldout.shards); });
        if (!doubt.empty()) data.heldout.info.warnings.push_back(doubt);
      });
    faults.raise();
  });
  require_same_data(grid.world(), data);
  return data;
}

}  // namespace bellwether::app
