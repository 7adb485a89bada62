// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
class World;
}
namespace bellwether::input {
class IoThread;
}
namespace bellwether::model {
struct Capacity;
}

namespace bellwether::app {

/// What a checkpoint records of the shards of its run, members of ShardSetInfo; 0: not recorded.
struct RecordedData {
  std::int64_t fingerprint = 0, content = 0, bytes = 0;  ///< of data.train
  std::int64_t heldout_content = 0;
  std::int64_t vocabulary = 0;  ///< checksum; where shards record none, that of an earlier checkpoint
};

/// The shards that a deck names, opened.
struct TrainingData {
  std::unique_ptr<input::BatchStream> stream;
  input::HeldoutSet heldout;  ///< without batches where the deck names no held-out shards
  RecordedData recorded{};    ///< last read or written

  /// What a pass of either set needs at most on one of `ranks` ranks.
  model::Capacity capacity(input::BatchConfig const& batch, int ranks) const;
  std::int64_t bytes() const;  ///< most memory that rows of either set take
  /// What the deck asks for and these shards do not give, and what may be wrong with them, one sentence each; training
  /// goes on all the same.
  std::vector<std::string> warnings(input::Deck const& deck) const;
  /// What a checkpoint records of the data.
  void visit_state(StateVisitor& visit);
  /// After a checkpoint was read by visit_state(). \throws InputError where its run trained on other data.
  void require_recorded() const;
};

/// Collective. Opens training and held-out shards and finds whether they fit the deck and each other, and whether they
/// are the same on all ranks. `io` outlives the result.
/// \throws CommonError on all ranks, every fault as `data.train: what` or `data.heldout: what`.
TrainingData open_training_data(input::Deck const& deck, comm::World& world, input::IoThread& io);

}  // namespace bellwether::app
