// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace bellwether::model {

/// The enqueued micro-batches of one step, and the counts of their batch.
struct EnqueuedMicroBatches {
  std::int64_t sequences = 0, masked = 0, tokens = 0;  ///< of the global batch
  std::int64_t count = 0;                              ///< micro-batches of this rank
  std::int64_t first_sequences = 0;                    ///< sequences of the first micro-batch
  double flops = 0;                                    ///< floating-point operations of this rank's matrix products
  std::int64_t mark = 0;                               ///< argument of MicroBatchQueue::wait()
};

}  // namespace bellwether::model
