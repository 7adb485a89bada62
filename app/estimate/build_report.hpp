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
  PhaseTraffic mine;                ///< sent by this rank
  std::int64_t all_intra_node = 0;  ///< sent by all ranks within nodes
  std::int64_t all_inter_node = 0;  ///< sent by all ranks between nodes
};

/// The sizes, memory and traffic of a run of a deck on this number of ranks. Memory is that of this rank. Traffic is
/// the bytes that the exchange of gradients passes to the transport in a step.
struct BuildReport {
  int ranks = 1;
  int nodes = 1;
  std::string transport;        ///< Trainer::transport()
  std::string transports;       ///< compare_transports()
  std::int64_t parameters = 0;  ///< n
  std::int64_t tensors = 0;
  std::int64_t sequence_length = 0;  ///< S
  std::int64_t masked_length = 0;    ///< maximum predictions per sequence
  std::int64_t training_rows = 0;
  bool static_masks = false;       ///< of the training shards
  std::int64_t share = 0;          ///< maximum sequences of a global batch on a rank
  std::int64_t micro_batches = 0;  ///< of that rank in a step
  std::int64_t steps = 0;
  MemoryUse memory;
  std::optional<std::int64_t> device_allocated;  ///< bytes of device memory that the build allocated; unset on hosts
  std::int64_t checkpoint_bytes = 0;             ///< written by this rank before the freeze
  std::int64_t residual_bytes = 0;               ///< more after it: residuals, if checkpoint.worker_error is exact
  std::optional<SentInStep> dense_step;          ///< up to the freeze if the method compresses, otherwise every step
  std::optional<SentInStep> compressed_step;     ///< after the freeze, if the method compresses
  double step_flops = 0;                         ///< operations of the matrix products of a step, all ranks
  double gemm_speed = 0;                         ///< measured operations per second, all ranks at once
  std::uint64_t layout_fingerprint = 0;
  std::vector<std::string> warnings;  ///< Trainer::warnings()
};

/// Collective. Builds everything that training builds and opens the shards, but does not train.
/// \throws CommonError if deck and shards contradict each other.
BuildReport build_report(input::Deck const& deck, comm::World& world);

/// Formats the report as a page of text.
std::string report_text(BuildReport const& report, input::Deck const& deck);

}  // namespace bellwether::app
