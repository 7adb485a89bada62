// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "model/batch/batch.hpp"
#include "model/model_config.hpp"

#include <cstdint>
#include <memory>

namespace bellwether::comm {
class Communicator;
class World;
}  // namespace bellwether::comm

/// Measures how fast a rank computes and how fast its memory is. Benches and forecasts use the same measurements.
namespace bellwether::app {

/// A model and one micro-batch of it without padding.
struct MicroBatchShape {
  model::ModelConfig model;  ///< `type` replaces its compute
  ComputeType type = ComputeType::fp32;
  std::int64_t sequences = 32;  ///< B
  std::int64_t length = 128;    ///< tokens of each sequence, S
  std::int64_t masked = 20;     ///< masked positions of each sequence
};

/// Returns a micro-batch of random tokens. The tokens depend on `rank`.
model::Batch random_batch(MicroBatchShape const& shape, int rank);

/// Collective. Runs forward and backward passes on all ranks at once. Returns FLOP/s of the slowest rank: the
/// median of a few passes, or one pass if it takes seconds.
double measured_pass_speed(comm::World& world, MicroBatchShape const& shape);

/// The triad a[k] = b[k] + 3 c[k] over 2^24 elements on all ranks at once: the speed of memory at this moment.
class Triad {
 public:
  /// Collective. Allocates three vectors in the execution space's memory and touches them. ranks: must outlive this.
  explicit Triad(comm::Communicator& ranks);
  ~Triad();
  Triad(Triad const&) = delete;
  Triad& operator=(Triad const&) = delete;

  /// Collective. One pass. \returns seconds a byte on this rank; an element counts 12 bytes.
  double pass();

 private:
  struct Vectors;
  comm::Communicator& ranks_;
  std::unique_ptr<Vectors> vectors_;
};

/// Collective. \returns bytes a second of the triad: the median of nine passes, on the slowest rank.
double measured_memory_speed(comm::World& world);

}  // namespace bellwether::app
