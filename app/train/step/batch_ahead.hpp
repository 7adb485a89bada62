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

/// Holds the batch of the current step and prefetches that of the next step. Fetch errors are shared in the step's
/// single reduction, so that all ranks stop before a step that one of them cannot begin. Fetching is the only part of a
/// step that allocates memory, because samples differ in length.
class BatchAhead {
 public:
  BatchAhead(input::BatchStream& stream, comm::RankGroup& group) : stream_(stream), group_(group) {}

  model::StepBatch const& next() const { return ahead_; }  ///< the prefetched batch; requires fetched()

  /// Collective. Fetches the next batch. For use before training. \throws CommonError with "data.train: " in front.
  void fetch_together();
  /// Fetches the next batch on this rank only. Returns the error, or an empty text.
  std::string try_to_fetch();
  bool fetched() const { return has_ahead_; }
  /// Makes the prefetched batch the current one and returns it. It is valid until the next call.
  model::StepBatch const& begin();
  /// Undoes the last begin(): its batch becomes the prefetched one again.
  void roll_back();

  /// Returns the index of the first sample that no step has used.
  std::int64_t position() const { return has_ahead_ ? ahead_position_ : stream_.position(); }
  void seek(std::int64_t first);

 private:
  void fetch();

  input::BatchStream& stream_;
  comm::RankGroup& group_;
  model::StepBatch batch_, ahead_;
  std::int64_t ahead_position_ = 0;  // index of the first sample in ahead_
  std::int64_t begun_position_ = 0;  // index of the first sample in batch_
  bool has_ahead_ = false;
};

}  // namespace bellwether::app
