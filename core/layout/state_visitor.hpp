// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
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

/// Which ranks have an array, and which part of it.
enum class Placement {
  replicated,   ///< equal on all ranks; rank 0 writes it
  partitioned,  ///< this rank's slice of a global vector; resharded by global element
  per_rank,     ///< differs per rank, with the same length on every rank
  held          ///< this rank's values of a slice; slices of ranks may overlap, with different values
};

/// Values that an array may have. Others are neither written nor read.
enum class ValueRange {
  finite,
  not_negative,  ///< finite and never negative
  may_be_nan     ///< any value; NaN means not measured
};

/// Describes an array of state. Make it with replicated(), partitioned(), per_rank() or held(), and narrow or widen its
/// values after that: replicated("variance").not_negative().
struct ArraySpec {
  std::string_view name;  ///< path below the owner's group, such as "momentum" or "layer_3/ratio"
  Placement placement = Placement::replicated;
  std::int64_t first = 0, total = 0;  ///< partitioned and held: the slice begins at element `first` of `total`
  Reshard reshard = Reshard::mean;    ///< per_rank only
  ValueRange range = ValueRange::finite;

  constexpr ArraySpec not_negative() const { return with(ValueRange::not_negative); }
  constexpr ArraySpec may_be_nan() const { return with(ValueRange::may_be_nan); }

 private:
  constexpr ArraySpec with(ValueRange values) const {
    ArraySpec spec = *this;
    spec.range = values;
    return spec;
  }
};

/// Equal on all ranks; rank 0 writes it.
constexpr ArraySpec replicated(std::string_view name) { return {.name = name}; }
/// This rank's slice of a global vector of `total` elements, from `first` on; resharded by global element.
constexpr ArraySpec partitioned(std::string_view name, std::int64_t first, std::int64_t total) {
  return {.name = name, .placement = Placement::partitioned, .first = first, .total = total};
}
/// A vector that differs per rank, with the same length on every rank.
constexpr ArraySpec per_rank(std::string_view name, Reshard reshard) {
  return {.name = name, .placement = Placement::per_rank, .reshard = reshard};
}
/// This rank's values of a vector of `total` elements, from `first` on. Slices of ranks may overlap, with different
/// values, and cover all elements. If the slices have changed, each new holder of an element gets the mean over its old
/// holders. Compatible with per_rank() of the same name, whose slice is [0, total).
constexpr ArraySpec held(std::string_view name, std::int64_t first, std::int64_t total) {
  return {.name = name, .placement = Placement::held, .first = first, .total = total};
}

/// Describes a host scalar that is equal on all ranks. Without `least`, every value is allowed, NaN included.
template <class T>
struct ScalarSpec {
  std::string_view name;  ///< as in ArraySpec
  std::optional<T> least = std::nullopt;
};

/// A counter between `least` and StateVisitor::most_counted, which leaves room to count further.
constexpr ScalarSpec<std::int64_t> counter(std::string_view name, std::int64_t least = 0) { return {name, least}; }
/// A finite number of at least `least`.
constexpr ScalarSpec<double> number(std::string_view name, double least = std::numeric_limits<double>::lowest()) {
  return {name, least};
}

/// Saves and loads state with the same function: the owner describes its state in visit_state(StateVisitor&). The
/// visitor is a writer, a reader for the same number of ranks, or a reader for another number.
class StateVisitor {
 public:
  static constexpr std::int64_t most_counted = std::int64_t{1} << 60;

  virtual ~StateVisitor() = default;
  /// values: (count) in the memory of Exec; this rank's slice if spec places one.
  virtual void array(ArraySpec const& spec, std::span<float> values) = 0;
  virtual void scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) = 0;
  virtual void scalar(ScalarSpec<double> const& spec, double& value) = 0;
  /// Like a replicated array, for values computed on demand. Writers only.
  virtual void formed(std::string_view name, FormedValues const& values) {
    values.give(0, values.count(), [&](std::int64_t, std::span<float> all) { array(replicated(name), all); });
  }
  /// Returns true if a reader has state of this name; always true for writers.
  virtual bool has(std::string_view) const { return true; }
  /// For readers: discards saved state of this name, if any.
  virtual void drop(std::string_view) {}
};

}  // namespace bellwether
