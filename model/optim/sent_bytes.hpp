// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace bellwether::optim {

struct OptimizerConfig;

enum class Phase { dense, compressed };  ///< whether gradients are averaged or bits of momenta exchanged

/// Bytes that this rank sends in a step, by what they are.
struct SentBytes {
  std::int64_t exchange = 0;     ///< of gradients as they are or compressed
  std::int64_t worker = 0;       ///< of the exchange: phase 1 of the compressed mean
  std::int64_t server = 0;       ///< of the exchange: phase 2
  std::int64_t scalars = 0;      ///< of the step's small reductions
  std::int64_t intra_node = 0;   ///< of both, to ranks on the same node
  std::int64_t dense_fp32 = 0;   ///< what a dense exchange in fp32 sends
  std::int64_t dense_16bit = 0;  ///< what one in 16 bit sends

  std::int64_t all() const { return exchange + scalars; }
};

/// Numbers of the small reduction in a step after the freeze, one that sketches gradients, of a model of so many
/// tensors.
std::int64_t scalars_after_freeze(OptimizerConfig const& config, std::int64_t tensors, int ranks);

}  // namespace bellwether::optim
