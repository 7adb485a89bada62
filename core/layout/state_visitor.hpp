// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace bellwether {

/// What becomes of per-rank state when a run resumes on another number of ranks.
enum class Reshard { mean, zero, refuse };

/// Numbers that their owner does not keep as such, and forms for who saves them.
class FormedValues {
 public:
  using Use = std::function<void(std::int64_t first, std::span<float> values)>;

  virtual ~FormedValues() = default;
  virtual std::int64_t count() const = 0;
  /// Hands elements [first, first + size) to `use`, in memory of the execution space that is gone when this returns.
  virtual void give(std::int64_t first, std::int64_t size, Use const& use) const = 0;
};

/// Save and load are one function: whoever owns state walks it with visit_state(StateVisitor&), and the visitor is a
/// writer, a reader at the same number of ranks, or a reader at another. Spans are in the memory of the execution space
/// of training, shape (count); `name` is a path below the owner's own group, such as "momentum" or "layer_3/ratio".
class StateVisitor {
 public:
  static constexpr std::int64_t most_counted = std::int64_t{1} << 60;

  virtual ~StateVisitor() = default;
  /// Equal on all ranks: written once, by rank 0.
  virtual void replicated(std::string_view name, std::span<float> values) = 0;
  /// This rank's slice [first, first + size) of a global vector of `total` elements; resharded by global element.
  virtual void partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) = 0;
  /// This rank's own vector, of the same length on every rank.
  virtual void per_rank(std::string_view name, std::span<float> values, Reshard reshard) = 0;
  /// This rank's own values of elements [first, first + size) of a vector of `total`, of which other ranks hold values
  /// of their own; every element is held. Where ranks hold other slices than they did, every holder of an element gets
  /// the mean over those that held it. Of one name with per_rank(): its values are those of the slice [0, total).
  virtual void held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) = 0;
  /// Host scalars, equal on all ranks.
  virtual void scalar(std::string_view name, std::int64_t& value) = 0;
  virtual void scalar(std::string_view name, double& value) = 0;
  /// As replicated(), of values that are formed for the purpose. Only where state is written.
  virtual void formed(std::string_view name, FormedValues const& values) {
    values.give(0, values.count(), [&](std::int64_t, std::span<float> all) { replicated(name, all); });
  }
  /// As replicated(), of values that are never negative. All others only have to be finite.
  virtual void not_negative(std::string_view name, std::span<float> values) { replicated(name, values); }
  /// As replicated(), of numbers for the record: NaN where nothing was measured.
  virtual void measured(std::string_view name, std::span<float> values) { replicated(name, values); }
  /// As scalar(), of a number from `least` to most_counted, which may be counted on from.
  virtual void count(std::string_view name, std::int64_t& value, [[maybe_unused]] std::int64_t least) {
    scalar(name, value);
  }
  /// As scalar(), of a finite number from `least` on.
  virtual void number(std::string_view name, double& value, [[maybe_unused]] double least) { scalar(name, value); }
  /// Whether there is state of this name to read; where state is written, always.
  virtual bool has(std::string_view) const { return true; }
  /// For a reader: what was saved under this name, if anything, is not wanted any more.
  virtual void drop(std::string_view) {}
};

}  // namespace bellwether
