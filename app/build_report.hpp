// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck.hpp"

#include <cstdint>
#include <string>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

/// What a deck builds on this number of ranks. Memory is this rank's, in bytes; traffic is what the exchange
/// of gradients hands to the transport in a step.
struct BuildReport {
  int ranks = 1;
  std::int64_t parameters = 0;  ///< n
  std::int64_t tensors = 0;
  std::int64_t sequence_length = 0;  ///< S
  std::int64_t training_rows = 0;
  std::int64_t share = 0;   ///< most sequences of a global batch that a rank takes
  std::int64_t passes = 0;  ///< that it takes them in
  std::int64_t steps = 0;
  std::int64_t parameter_bytes = 0, gradient_bytes = 0, optimizer_bytes = 0, activation_bytes = 0;
  std::int64_t sent_bytes = 0;      ///< a step, by this rank
  std::int64_t sent_bytes_all = 0;  ///< a step, by all ranks
  std::uint64_t layout_fingerprint = 0;

  std::int64_t bytes() const { return parameter_bytes + gradient_bytes + optimizer_bytes + activation_bytes; }
};

/// Collective. Opens the shards and builds model, workspace and optimizer as training does, and trains nothing.
/// \throws InputError where deck and shards do not fit each other.
BuildReport build_report(input::Deck const& deck, comm::World& world);

/// The report as a page of text.
std::string report_text(BuildReport const& report, input::Deck const& deck);

}  // namespace bellwether::app
