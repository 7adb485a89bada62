// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/train/trainer.hpp"
#include "input/deck/deck.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::app {

/// Bytes on the network in one step.
struct SentInStep {
  PhaseTraffic mine;                ///< by this rank
  std::int64_t all_intra_node = 0;  ///< by all ranks
  std::int64_t all_inter_node = 0;  ///< by all ranks
};

/// What a deck builds on this number of ranks. Memory is this rank's; traffic is what the exchange of gradients hands
/// to the transport in a step.
struct BuildReport {
  int ranks = 1;
  int nodes = 1;
  std::string transport;        ///< Trainer::transport()
  std::string transports;       ///< compare_transports()
  std::int64_t parameters = 0;  ///< n
  std::int64_t tensors = 0;
  std::int64_t sequence_length = 0;  ///< S
  std::int64_t masked_length = 0;    ///< most predictions a sequence
  std::int64_t training_rows = 0;
  bool static_masks = false;       ///< of the training shards
  std::int64_t share = 0;          ///< most sequences of a global batch that a rank takes
  std::int64_t micro_batches = 0;  ///< that it computes them in
  std::int64_t steps = 0;
  MemoryUse memory;
  std::optional<std::int64_t> device_allocated;  ///< bytes of the device that became used meanwhile, where there is one
  std::int64_t checkpoint_bytes = 0;             ///< that this rank writes, before a freeze
  std::int64_t held_bytes = 0;                   ///< of residuals after it, with checkpoint.worker_error: exact
  std::optional<SentInStep> dense_step;          ///< of a method that compresses: up to the freeze
  std::optional<SentInStep> compressed_step;     ///< from the freeze on, where the method compresses
  double step_flops = 0;                         ///< of the matrix products of a step, all ranks
  double gemm_speed = 0;                         ///< operations a second that the machine reaches, all ranks at once
  std::uint64_t layout_fingerprint = 0;
  std::vector<std::string> warnings;  ///< Trainer::warnings()
};

/// Collective. Builds all that training builds, opens the shards, and trains nothing.
/// \throws CommonError where deck and shards do not fit each other.
BuildReport build_report(input::Deck const& deck, comm::World& world);

/// The report as a page of text.
std::string report_text(BuildReport const& report, input::Deck const& deck);

}  // namespace bellwether::app
