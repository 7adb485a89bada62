// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/batch_stream.hpp"
#include "input/deck.hpp"
#include "model/batch.hpp"

#include <memory>
#include <string>
#include <vector>

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

/// The shards that a deck names, opened.
struct TrainingData {
  std::unique_ptr<input::BatchStream> stream;
  input::HeldoutSet heldout;  ///< without batches where the deck names no held-out shards

  /// What a pass of either set needs at most on one of `ranks` ranks.
  model::Capacity capacity(input::BatchConfig const& batch, int ranks) const;
  std::int64_t bytes() const;  ///< most memory that rows of either set take
  /// What the deck asks for and these shards do not give, one sentence each; training goes on without it. bytes_before:
  /// of the shards that a checkpoint was trained on; 0 without one.
  std::vector<std::string> warnings(input::Deck const& deck, std::int64_t bytes_before) const;
};

/// Collective. Opens training and held-out shards and finds whether they fit the deck and each other. `io` outlives
/// the result.
/// \throws CommonError on all ranks, every fault as `data.train: what` or `data.heldout: what`.
TrainingData open_training_data(input::Deck const& deck, comm::World& world, input::IoThread& io);

}  // namespace bellwether::app
