// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

namespace bellwether::comm {

/// Name of a collective in messages, regions and counters: `bellwether::<component>::<step>`, a string literal.
using Label = char const*;

/// A collective passed its deadline: names operation, label, bytes, seconds, ranks of the group and this rank,
/// and what the watchdog knows of the others.
class CollectiveTimeout : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An ordered group of ranks and its few collectives on host memory, those of start-up, checkpoints and the step's
/// scalars. All ranks call the same collectives in the same order. Needs no Kokkos.
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sums are formed in rank order on every rank.
  virtual void sum_host(std::span<double> inout, Label) = 0;
  virtual void broadcast_host(std::span<std::byte> inout, int root, Label) = 0;
  virtual void barrier(Label) = 0;
  /// Seconds that a collective waits at most; \throws CollectiveTimeout, from the collective, beyond that.
  virtual void set_deadline(double seconds) = 0;
};

}  // namespace bellwether::comm
