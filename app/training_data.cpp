// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/training_data.hpp"

#include "app/agreement.hpp"
#include "comm/rank_group.hpp"
#include "comm/world.hpp"
#include "core/error.hpp"
#include "input/io_thread.hpp"
#include "model/bert.hpp"

#include <algorithm>
#include <functional>

namespace bellwether::app {
namespace {

input::StreamGeometry geometry_of(input::Deck const& deck, comm::World const& world) {
  return {.rank = world.rank(),
          .size = world.size(),
          .global = deck.batch.global,
          .micro = deck.batch.micro,
          .seed = static_cast<std::uint64_t>(deck.run.seed),
          .positions = deck.model.positions,
          .vocabulary = deck.model.vocabulary};
}

/// Faults of the deck's keys, collected before any is thrown.
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

}  // namespace

model::Capacity TrainingData::capacity(input::BatchConfig const& batch, int ranks) const {
  auto const share = (batch.global + ranks - 1) / ranks;
  auto const& train = stream->info();
  return {.sequences = std::min(batch.micro, share),
          .longest = std::max(train.sequence_length, heldout.info.sequence_length),
          .masked = std::max(train.masked_length, heldout.info.masked_length)};
}

std::int64_t TrainingData::bytes() const {
  std::int64_t sum = stream->buffer_bytes();
  for (auto const& batch : heldout.batches)
    for (auto const& pass : batch.passes) sum += pass.bytes();
  return sum;
}

std::vector<std::string> TrainingData::warnings(input::Deck const& deck, std::int64_t bytes_before) const {
  std::vector<std::string> texts;
  if (stream->info().static_masks && deck.data.dynamic_masking)
    texts.push_back(
        "data.dynamic_masking: true, but data.train holds static masks: the same masks in every epoch, and no use for "
        "data.mask_probability; false says so");
  auto const tell = [&](char const* key, input::ShardSetInfo const& info) {
    for (auto const& warning : info.warnings) texts.push_back(std::string(key) + ": " + warning);
  };
  tell("data.train", stream->info());
  if (!heldout.batches.empty()) tell("data.heldout", heldout.info);
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
                    std::to_string(heldout.info.rows) + " sequences; evaluations run over those");
  if (auto const now = stream->info().bytes; bytes_before != 0 && bytes_before != now)
    texts.push_back("data.train: the shards have " + std::to_string(now) + " bytes, but had " +
                    std::to_string(bytes_before) +
                    " when the checkpoint was written; the samples are the same only if their rows are");
  return texts;
}

TrainingData open_training_data(input::Deck const& deck, comm::World& world, input::IoThread& io) {
  TrainingData data;
  auto const geometry = geometry_of(deck, world);
  together(world.group(), [&] {
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
      });
    faults.raise();
  });
  return data;
}

}  // namespace bellwether::app
