// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace bellwether {

/// Treatment of per-rank state when a run resumes on a different number of ranks.
enum class Reshard { mean, zero, refuse };

/// Values that their owner stores in another form and computes only when they are saved.
class FormedValues {
 public:
  using Use = std::function<void(std::int64_t first, std::span<float> values)>;

  virtual ~FormedValues() = default;
  virtual std::int64_t count() const = 0;
  /// Computes elements [first, first + size) and passes them to `use`, in execution space memory that is valid only
  /// during the call.
  virtual void give(std::int64_t first, std::int64_t size, Use const& use) const = 0;
};

/// Saves and loads state with the same function: the owner describes its state in visit_state(StateVisitor&). The
/// visitor is a writer, a reader for the same number of ranks, or a reader for another number. Spans are in the memory
/// of Exec, shape (count). name: path below the owner's group, e.g. "momentum" or "layer_3/ratio".
class StateVisitor {
 public:
  static constexpr std::int64_t most_counted = std::int64_t{1} << 60;

  virtual ~StateVisitor() = default;
  /// Equal on all ranks; rank 0 writes it.
  virtual void replicated(std::string_view name, std::span<float> values) = 0;
  /// This rank's slice [first, first + size) of a global vector of `total` elements; resharded by global element.
  virtual void partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) = 0;
  /// A vector that differs per rank, with the same length on every rank.
  virtual void per_rank(std::string_view name, std::span<float> values, Reshard reshard) = 0;
  /// This rank's values of elements [first, first + size) of a vector of `total` elements. Slices of ranks may overlap,
  /// with different values, and cover all elements. If the slices have changed, each new holder of an element gets the
  /// mean over its old holders. Compatible with per_rank() of the same name, whose slice is [0, total).
  virtual void held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) = 0;
  /// Host scalars; equal on all ranks.
  virtual void scalar(std::string_view name, std::int64_t& value) = 0;
  virtual void scalar(std::string_view name, double& value) = 0;
  /// Like replicated(), for values computed on demand. Writers only.
  virtual void formed(std::string_view name, FormedValues const& values) {
    values.give(0, values.count(), [&](std::int64_t, std::span<float> all) { replicated(name, all); });
  }
  /// Like replicated(), for values that are never negative. Other values need only be finite.
  virtual void not_negative(std::string_view name, std::span<float> values) { replicated(name, values); }
  /// Like replicated(), for measurements; NaN means not measured.
  virtual void measured(std::string_view name, std::span<float> values) { replicated(name, values); }
  /// Like scalar(), for a counter between `least` and most_counted, which leaves room to count further.
  virtual void count(std::string_view name, std::int64_t& value, [[maybe_unused]] std::int64_t least) {
    scalar(name, value);
  }
  /// Like scalar(), for a finite number of at least `least`.
  virtual void number(std::string_view name, double& value, [[maybe_unused]] double least) { scalar(name, value); }
  /// Returns true if a reader has state of this name; always true for writers.
  virtual bool has(std::string_view) const { return true; }
  /// For readers: discards saved state of this name, if any.
  virtual void drop(std::string_view) {}
};

}  // namespace bellwether
