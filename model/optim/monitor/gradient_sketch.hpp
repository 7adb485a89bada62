// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/memory/block_table.hpp"
#include "core/random/philox_lanes.hpp"
#include "model/optim/monitor/gradient_check.hpp"

/// Estimates the norm of a mean gradient that no rank computes. Every rank sketches its gradient with random signs:
///     sketch[c] = sum over k = c (mod K) of sign(step, k) g[k].
/// The signs are the same on all ranks, so the mean of the sketches is the sketch of the mean. Over the signs, E
/// |sketch|^2 = |g|^2, and the relative deviation of the norm is near sqrt(1 / (2 K)). See Alon, Matias, Szegedy, "The
/// space complexity of approximating the frequency moments", 1996. Also Charikar, Chen, Farach-Colton, "Finding
/// frequent items in data streams", 2002.
namespace bellwether::optim {

/// Number of elements that share one draw of signs. With b = k div 128, element k has bit 31 - k mod 32 of word (k mod
/// 128) div 32 of philox(b mod 2^32, b div 2^32, step mod 2^32, step div 2^32). A set bit means plus.
inline constexpr Index sign_group = 128;

/// Returns the Philox counter of a group of elements, or of a vector of groups.
template <class Number>
KOKKOS_INLINE_FUNCTION WideCounter<Number> sketch_counter(std::int64_t step, Number group) {
  return {{group, group >> 32, Number{} + static_cast<std::uint64_t>(step),
           Number{} + (static_cast<std::uint64_t>(step) >> 32)}};
}

KOKKOS_INLINE_FUNCTION Philox4 sketch_signs(RandomKey const& key, std::int64_t step, Index group) {
  return philox(sketch_counter(step, static_cast<std::uint64_t>(group)), key);
}

/// Number of partial sketches. A constant, so that the order of the sums does not depend on the machine.
inline constexpr Index sketch_parts = 32;

/// Distribution of the columns of a sketch over teams. On a host one team has all columns. On a device the parts alone
/// would occupy too few multiprocessors, so a team has `groups` groups of signs, one for each thread of 32 lanes.
template <class Space>
struct SketchStrips {
  static constexpr Index groups = TeamShape<Space>::host ? 0 : 8;
  /// Groups in a row if there is no sketch and only squares are summed.
  static constexpr Index unsketched_row = 128;

  static Index row_groups(Index columns) { return columns > 0 ? columns / sign_group : unsketched_row; }
  static Index count(Index columns) {
    if constexpr (groups == 0)
      return 1;
    else
      return (row_groups(columns) + groups - 1) / groups;
  }
  /// Returns the number of partial sums of squares, enough for a sketch of these columns and for none.
  static Index squares(Index columns) { return sketch_parts * Kokkos::max(count(columns), count(0)); }
};

/// Layout of the vector of scalars that is averaged over ranks. First come the K columns of the sketch. Then come the
/// norm of each rank, and for each rank (1 + its first tensor that is not finite), or 0. Other ranks write 0 there.
/// Last come the numbers by tensor, which the caller writes.
struct ScalarLayout {
  Index columns;
  int ranks;
  Index by_tensor = 0;  ///< count of numbers by tensor

  KOKKOS_INLINE_FUNCTION Index norm(int rank) const { return columns + rank; }
  KOKKOS_INLINE_FUNCTION Index bad(int rank) const { return columns + ranks + rank; }
  KOKKOS_INLINE_FUNCTION Index tensors() const { return columns + 2 * ranks; }  ///< the first number by tensor
  KOKKOS_INLINE_FUNCTION Index count() const { return tensors() + by_tensor; }
};

/// The gradient of a rank, and the signs of its sketch.
struct SketchedGradient {
  float const* values;  ///< (n)
  Index count;          ///< n
  int rank;             ///< of P
  RandomKey key;        ///< of the run's sketches
  std::int64_t step;    ///< signs differ from step to step
};

/// Memory that a sketch overwrites.
template <class Space>
struct SketchScratch {
  Vec<float, Space> const& partial;   ///< (sketch_parts K)
  Vec<double, Space> const& squares;  ///< (SketchStrips::squares(K))
};

/// Sketches the local gradient in one read, 4 bytes an element. `scalars`: (ScalarLayout::count()), written for this
/// rank. Its numbers by tensor become 0. K: a multiple of sign_group, or 0 for no sketch.
template <class Space>
void sketch_gradient(Space const& exec, BlockTable<Space> const& table, SketchedGradient const& gradient,
                     ScalarLayout const& layout, SketchScratch<Space> const& scratch, Vec<float, Space> const& scalars);

/// Computes the gradient check from the mean of the scalars over ranks. With a sketch, the norm is the sketch's, and
/// `proportion` becomes its square over the mean square of the ranks' norms. Without one, the norm is derived from the
/// ranks' norms and the last proportion. With one rank the norm is exact. proportion: (1), initially 1; unchanged if
/// gradients are not finite. Also skips if any scalar is not finite: a sum can overflow although all elements are
/// finite.
template <class Space>
void check_scalars(Space const& exec, ScalarLayout const& layout, NormUse const& use, Vec<float, Space> const& scalars,
                   Vec<float, Space> const& proportion, Vec<GradientCheck, Space> const& gradient_check);

}  // namespace bellwether::optim
