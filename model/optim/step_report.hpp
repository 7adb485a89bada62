// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/segment_times.hpp"
#include "comm/compression/compressed_report.hpp"
#include "core/index.hpp"
#include "core/system/clock.hpp"
#include "model/optim/freeze.hpp"
#include "model/optim/sent_bytes.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// What goes into a step of an optimizer beside its arenas, and what comes out. Needs no Kokkos.
namespace bellwether::optim {

/// Elements [first, last) of the arena.
struct SliceRange {
  Index first, last;
};

/// Times of one segment of the dense mean, on the host's clock.
struct SegmentReport {
  SliceRange elements;
  Clock::time_point ready;  ///< when gradient_ready() received its last gradient, or else when step() began
  comm::SegmentTimes mean;
};

struct StepScalars {
  std::int64_t step;  ///< 1-based count of real optimizer steps
  double learning_rate;
  /// Compute the numbers by layer that cost extra memory traffic or communication: comm::CompressionShares and
  /// measure_update(). Equal on all ranks.
  bool layers = false;
};

/// One number for each tensor, in the order of the layout; NaN if the step has none.
struct LayerQuantity {
  std::string_view name;
  std::vector<float> values;
};

/// Results of the last call of step().
struct StepReport {
  /// The gradient was not finite on some rank, or its norm was above the limit. No state changed.
  bool skipped = false;
  Phase phase = Phase::dense;
  double gradient_norm = 0;  ///< of the mean gradient, before clipping; estimated in the compressed phase
  double clip_factor = 1;
  /// Squared norm of the mean gradient, and mean over ranks of the squared norms of local gradients, before clipping.
  /// NaN if skipped or not known: the first with CompressedClip::local_rms, the second in a dense step on one rank.
  double mean_square = std::numeric_limits<double>::quiet_NaN();
  double local_square = std::numeric_limits<double>::quiet_NaN();
  SentBytes sent;
  double usual_norm = 0;  ///< the running mean, if the norm exceeded it optimizer.norm_limit times; else 0
  /// If skipped: the first rank whose local gradient is not finite, and its first such layer. Rank -1: only the sum
  /// over ranks is not finite. Then the layer is the first of the sum, or -1 if only a sum over elements is not finite.
  /// If the norm was above the limit: the rank with the largest norm, and layer -1.
  std::int64_t bad_rank = -1;
  std::int64_t first_bad_layer = -1;
  std::vector<SegmentReport> segments;  ///< of a dense step on several ranks, in the order of sending
  VarianceCheck variance_check;         ///< of this step or an earlier one
  comm::CompressedReport exchange;      ///< zeros if nothing was compressed
  std::vector<LayerQuantity> layers;    ///< the same names after every step; may be empty
  std::vector<std::string> notices;     ///< messages for the log, reported once

  /// \throws InternalError if the method has no such quantity.
  std::vector<float> const& layer(std::string_view name) const;
};

}  // namespace bellwether::optim
