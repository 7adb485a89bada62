// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace bellwether::optim {

struct OptimizerConfig;

enum class Phase {
  dense,
  compressed
};  ///< whether ranks average gradients or exchange compressed gradients or momenta

/// Bytes that this rank sends in a step, by purpose.
struct SentBytes {
  std::int64_t exchange = 0;     ///< gradients, dense or compressed
  std::int64_t worker = 0;       ///< part of exchange: phase 1 of the compressed mean
  std::int64_t server = 0;       ///< part of exchange: phase 2
  std::int64_t scalars = 0;      ///< small reductions of the step
  std::int64_t intra_node = 0;   ///< part of exchange and scalars that goes to ranks on the same node
  std::int64_t dense_fp32 = 0;   ///< what a dense exchange in fp32 would send
  std::int64_t dense_16bit = 0;  ///< what a dense exchange in 16 bits would send

  std::int64_t all() const { return exchange + scalars; }
};

/// Returns the count of numbers in the small reduction of a step after the freeze that sketches gradients.
std::int64_t scalars_after_freeze(OptimizerConfig const& config, std::int64_t tensors, int ranks);

}  // namespace bellwether::optim
