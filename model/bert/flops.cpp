// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/flops.hpp"

namespace bellwether::model {

double training_flops(ModelConfig const& config, Batch const& batch) {
  auto const C = static_cast<double>(config.hidden), F = static_cast<double>(config.feed_forward);
  auto const V = static_cast<double>(config.vocabulary), L = static_cast<double>(config.layers);
  double attended = 0;  // sum of squared lengths
  for (std::int64_t b = 0; b < batch.sequences(); ++b) {
    double const length = batch.sequence_offsets[b + 1] - batch.sequence_offsets[b];
    attended += length * length;
  }
  double const blocks = L * (static_cast<double>(batch.tokens()) * 2 * (4 * C * C + 2 * C * F) + 4 * C * attended);
  double const masked = static_cast<double>(batch.masked()) * 2 * (C * C + C * V);
  double const next = static_cast<double>(batch.sequences()) * 2 * (C * C + 2 * C);
  return 3 * (blocks + masked + next);
}

}  // namespace bellwether::model
