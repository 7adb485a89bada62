// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/memory/block_table.hpp"
#include "core/random/philox_lanes.hpp"
#include "model/optim/monitor/gradient_check.hpp"

/// The norm of a mean gradient that nobody forms. Every rank sketches its gradient with random signs,
///     sketch[c] = sum over k = c (mod K) of sign(step, k) g[k],
/// with the same signs on all ranks, so that the mean of the sketches is the sketch of the mean, and E |sketch|^2 =
/// |g|^2 (Alon, Matias, Szegedy, "The space complexity of approximating the frequency moments", 1996; Charikar, Chen,
/// Farach-Colton, "Finding frequent items in data streams", 2002). The relative deviation of the norm is near
/// sqrt(1 / (2 K)).
namespace bellwether::optim {

/// Elements that share one draw of signs: element k has bit 31 - k mod 32 of word (k mod 128) div 32 of
/// philox(b mod 2^32, b div 2^32, step mod 2^32, step div 2^32), b = k div 128; a set bit is a plus.
inline constexpr Index sign_group = 128;

/// Its counter for a group, or a vector of groups.
template <class Number>
KOKKOS_INLINE_FUNCTION WideCounter<Number> sketch_counter(std::int64_t step, Number group) {
  return {{group, group >> 32, Number{} + static_cast<std::uint64_t>(step),
           Number{} + (static_cast<std::uint64_t>(step) >> 32)}};
}

KOKKOS_INLINE_FUNCTION Philox4 sketch_signs(RandomKey const& key, std::int64_t step, Index group) {
  return philox(sketch_counter(step, static_cast<std::uint64_t>(group)), key);
}

/// Rows of partial sketches: a constant, so that sums depend on the problem alone.
inline constexpr Index sketch_parts = 32;

/// How the columns of a row are dealt to teams. On a host one takes all of them. On a device, where parts alone would
/// keep few multiprocessors busy, a team takes this many groups of signs, a thread of 32 lanes each.
template <class Space>
struct SketchStrips {
  static constexpr Index groups = TeamShape<Space>::host ? 0 : 8;
  /// Groups of a row where nothing is sketched and only squares are summed.
  static constexpr Index unsketched_row = 128;

  static Index row_groups(Index columns) { return columns > 0 ? columns / sign_group : unsketched_row; }
  static Index count(Index columns) {
    if constexpr (groups == 0)
      return 1;
    else
      return (row_groups(columns) + groups - 1) / groups;
  }
  /// Sums of squares that teams leave behind, whether they sketch into these columns or into none.
  static Index squares(Index columns) { return sketch_parts * Kokkos::max(count(columns), count(0)); }
};

/// Where the scalars of a rank stand in the vector that is averaged over ranks: K columns, then for each rank its norm
/// and one more than its first tensor with an element that is not finite (0: none), zero on all other ranks, then the
/// numbers by tensor that somebody else writes.
struct ScalarLayout {
  Index columns;
  int ranks;
  Index by_tensor = 0;  ///< of those numbers

  KOKKOS_INLINE_FUNCTION Index norm(int rank) const { return columns + rank; }
  KOKKOS_INLINE_FUNCTION Index bad(int rank) const { return columns + ranks + rank; }
  KOKKOS_INLINE_FUNCTION Index tensors() const { return columns + 2 * ranks; }  ///< the first number by tensor
  KOKKOS_INLINE_FUNCTION Index count() const { return tensors() + by_tensor; }
};

/// One pass over the local gradient, 4 bytes an element. gradient: (n); partial: (sketch_parts K) scratch; squares:
/// (SketchStrips::squares(K)) scratch; scalars: (ScalarLayout::count()), written for this rank, 0 for numbers by
/// tensor. columns K: a multiple of sign_group, or 0 for no sketch.
template <class Space>
void sketch_gradient(Space const& exec, BlockTable<Space> const& table, Index count, float const* gradient,
                     RandomKey const& key, std::int64_t step, ScalarLayout const& layout, int rank,
                     Vec<float, Space> const& partial, Vec<double, Space> const& squares,
                     Vec<float, Space> const& scalars);

/// The gradient check from the mean of the scalars over ranks. The norm is that of the sketch, whose square over the
/// mean square of the ranks' norms becomes `proportion`; without columns, that of the ranks' norms in this proportion.
/// One rank's norm is exact. proportion: (1), at first 1; left as it is where gradients are not finite. Skips, too,
/// where a number among the scalars is not finite: all elements may be, and a sum of them not.
template <class Space>
void check_scalars(Space const& exec, ScalarLayout const& layout, double clip, Vec<float, Space> const& scalars,
                   Vec<float, Space> const& proportion, Vec<GradientCheck, Space> const& gradient_check,
                   NormLimit const& limit = {});

}  // namespace bellwether::optim
