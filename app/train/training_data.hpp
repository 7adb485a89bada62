// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics_rows.hpp"
#include "input/deck/deck.hpp"
#include "input/shards/batch_stream.hpp"
#include "model/batch/batch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bellwether {
class StateVisitor;
}
namespace bellwether::comm {
class ProcessGrid;
}
namespace bellwether::input {
class IoThread;
}
namespace bellwether::model {
struct Capacity;
}

namespace bellwether::app {

/// The identity of a run's shards as recorded in a checkpoint: members of ShardSetInfo; 0 if not recorded.
struct RecordedData {
  std::int64_t fingerprint = 0, content = 0, bytes = 0;  ///< of data.train
  std::int64_t heldout_content = 0;
  std::int64_t vocabulary = 0;  ///< checksum; if shards record none, that of an earlier checkpoint
};

/// The opened shards that a deck names.
struct TrainingData {
  std::unique_ptr<input::BatchStream> stream;
  input::HeldoutSet heldout;  ///< without batches if the deck names no held-out shards
  RecordedData recorded{};    ///< as last read or written

  /// Returns the maximum size of a micro-batch of either set on one of `replicas` data replicas.
  model::Capacity capacity(input::BatchConfig const& batch, int replicas) const;
  std::int64_t bytes() const;  ///< maximum host memory for rows of both sets
  /// Returns warnings, one sentence each: settings that these shards cannot satisfy, and doubts about the shards. None
  /// of them stops training.
  std::vector<std::string> warnings(input::Deck const& deck) const;
  RunDescription description(std::string const& name) const;  ///< its losses are those that held-out shards record
  /// Reads or writes the checkpoint's record of the data.
  void visit_state(StateVisitor& visit);
  /// Call it after visit_state() has read a checkpoint. \throws InputError if its run trained on other data.
  void require_recorded() const;
};

/// Collective. Opens the training and held-out shards. Divides each batch among the data replicas of `grid`. Checks
/// that the shards match the deck and each other and are equal on all ranks. `io` must outlive the result. \throws
/// CommonError on all ranks, every fault as `data.train: what` or `data.heldout: what`.
TrainingData open_training_data(input::Deck const& deck, comm::ProcessGrid const& grid, input::IoThread& io);

}  // namespace bellwether::app
