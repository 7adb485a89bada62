// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/batch_stream.hpp"
#include "model/batch/batch.hpp"

#include <cstdint>
#include <string>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// The batch of the step under way, and that of the step after it, which is taken from the stream early: with what goes
/// wrong there agreed on in the step's one reduction, no rank begins a step that another cannot. Fetching is the only
/// part of a step that allocates: samples are of many lengths, and what is read ahead comes and goes.
class BatchAhead {
 public:
  BatchAhead(input::BatchStream& stream, comm::RankGroup& group) : stream_(stream), group_(group) {}

  model::StepBatch const& next() const { return ahead_; }  ///< once it was fetched

  /// Collective. Before training, where the deck's key is at fault. \throws CommonError with the key in front.
  void fetch_together();
  /// What went wrong on this rank; empty where nothing did.
  std::string try_to_fetch();
  bool fetched() const { return has_ahead_; }
  /// What was fetched becomes the batch of the step under way, valid until the next call.
  model::StepBatch const& begin();
  /// The step that began last is not made after all: its batch, which was read, is that of the next one again.
  void roll_back();

  /// Running number of the first sample that no step has used.
  std::int64_t position() const { return has_ahead_ ? ahead_position_ : stream_.position(); }
  void seek(std::int64_t first);

 private:
  void fetch();

  input::BatchStream& stream_;
  comm::RankGroup& group_;
  model::StepBatch batch_, ahead_;
  std::int64_t ahead_position_ = 0;  // of the first sample in ahead_
  std::int64_t begun_position_ = 0;  // in batch_
  bool has_ahead_ = false;
};

}  // namespace bellwether::app
