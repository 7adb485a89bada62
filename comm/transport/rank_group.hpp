// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

namespace bellwether::comm {

/// Name of a collective in messages, regions and counters: `bellwether::<component>::<step>`, a string literal.
using Label = char const*;

/// A collective exceeded its timeout. The text names the operation, label, bytes, seconds, group size and this rank,
/// and the watchdog's report on the other ranks.
class CollectiveTimeout : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An ordered group of ranks with a few collectives on host memory, for start-up, checkpoints and the scalars of a
/// step. All ranks call the same collectives in the same order. Needs no Kokkos.
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sums in place, in rank order on every rank.
  virtual void sum_host(std::span<double> inout, Label) = 0;
  virtual void broadcast_host(std::span<std::byte> inout, int root, Label) = 0;
  virtual void barrier(Label) = 0;
  /// Sets the collective timeout in seconds. A collective that exceeds it throws CollectiveTimeout.
  virtual void set_timeout(double seconds) = 0;
};

}  // namespace bellwether::comm
