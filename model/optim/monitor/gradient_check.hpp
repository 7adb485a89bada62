// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/arena.hpp"
#include "core/memory/block_table.hpp"

namespace bellwether::optim {

/// The result of checking the mean gradient of a step, in memory that kernels read. All ranks hold the same mean
/// gradient bit for bit and sum it in the same order, so they agree without another reduction.
struct GradientCheck {
  double norm = 0;         ///< global norm before clipping; not finite if an element is not
  double clip_factor = 1;  ///< see clip_factor()
  /// Squared norm of the mean gradient (exact, or an unbiased estimate), and mean over ranks of the squared norms of
  /// the local gradients. Both before clipping; NaN: not known.
  double mean_square = Kokkos::Experimental::quiet_NaN_v<double>;
  double local_square = Kokkos::Experimental::quiet_NaN_v<double>;
  /// First rank whose local gradient has an element that is not finite, and its first such tensor. Rank -1: all local
  /// gradients are finite, or nothing is known about them. Then the tensor is the first bad one of the mean gradient,
  /// or -1 if only a sum over elements overflows.
  Index bad_rank = -1;
  Index bad_tensor = -1;
  /// Running mean of the norms, if the norm is above the limit; otherwise 0.
  double usual_norm = 0;
  std::int32_t skip = 0;  ///< 1: an element is not finite or the norm is above the limit; no state may change
};

/// Skips steps whose gradient norm is more than `limit` times the running mean of norms. The mean covers about the last
/// 100 steps and is used after 20 of them. The check then names the rank with the largest local norm.
struct NormLimit {
  static constexpr double memory = 0.99;
  double limit = 0;          ///< 0: no limit
  double known_weight = 0;   ///< weight of the mean after 20 steps
  float* history = nullptr;  ///< (2) weighted sum and sum of weights, initially 0; updated

  /// result: must contain a finite norm. local_norms: (ranks), in any common unit.
  KOKKOS_INLINE_FUNCTION void apply(GradientCheck& result, float const* local_norms, Index ranks) const {
    if (limit == 0) return;
    double const usual = history[1] > known_weight ? static_cast<double>(history[0]) / history[1] : 0;
    if (usual == 0 || result.norm <= limit * usual) {
      history[0] = static_cast<float>(memory * history[0] + (1 - memory) * result.norm);
      history[1] = static_cast<float>(memory * history[1] + (1 - memory));
      return;
    }
    result.skip = 1;
    result.usual_norm = usual;
    result.bad_rank = 0;
    for (Index r = 1; r < ranks; ++r)
      if (local_norms[r] > local_norms[result.bad_rank]) result.bad_rank = r;
  }
};

/// What the check does with the norm.
struct NormUse {
  double clip;           ///< largest norm of the clipped gradient, see clip_factor()
  NormLimit limit = {};  ///< when to skip a step
};

/// What the check reads of a mean gradient.
template <class Space>
struct MeanGradient {
  float const* values;  ///< (n)
  /// (P), the mean over ranks of place_norm()'s output, for local_square and the rank to blame. Empty: there is one
  /// rank.
  Vec<float, Space> local_norms = {};
};

/// Computes the norm, the clip factor and whether to skip, in one read of the gradient. Two launches, 4 bytes an
/// element. A square of a finite float is at most 1.2e77, so a sum of squares in double is finite exactly if all
/// elements are. `partial`: (blocks) scratch. `gradient_check`: (1), written.
template <class Space>
void check_gradient(Space const& exec, BlockTable<Space> const& table, MeanGradient<Space> const& gradient,
                    NormUse const& use, Vec<double, Space> const& partial,
                    Vec<GradientCheck, Space> const& gradient_check);

/// Returns the tensor with the largest part of a gradient's squared norm. gradient: (n). Waits and allocates memory, so
/// do not call it at every step.
template <class Space>
Index largest_tensor(Space const& exec, ParameterLayout const& layout, float const* gradient);

/// Blocks [first, last) of a table.
struct BlockRange {
  Index first = 0, last = 0;
};

/// partial[b] = sum of the squares of block b, for all b in `range`. gradient: (n); partial: (blocks).
template <class Space>
void square_blocks(Space const& exec, BlockTable<Space> const& table, BlockRange range, float const* gradient,
                   Vec<double, Space> const& partial);

/// norms[rank] = norm of this rank's gradient. If it is not finite: the negative of (1 + the first non-finite tensor).
/// All other entries become 0, so that the mean over ranks contains every number, divided by P. partial: (blocks) from
/// square_blocks() for all blocks; norms: (P), written.
template <class Space>
void place_norm(Space const& exec, BlockTable<Space> const& table, int rank, Vec<double, Space> const& partial,
                Vec<float, Space> const& norms);

/// The norm of an incomplete gradient. On a single rank, the gradient after the first of several micro-batches is the
/// small batch that the noise scale needs.
class PartNorm {
 public:
  explicit PartNorm(ParameterLayout const& layout);

  /// Enqueues the norm of the current gradients. Reads 4 bytes an element; does not wait.
  void measure(Exec const& exec, Arena<> const& gradients);
  /// Returns the squared norm of a finite gradient. Valid once measure() is complete.
  double square() const { return static_cast<double>(host_(0)) * host_(0); }
  std::int64_t bytes() const;

 private:
  BlockTable<Exec> blocks_;
  Vec<double> partial_;  // (blocks)
  Vec<float> norm_;      // (1)
  HostCopy<float> host_;
};

}  // namespace bellwether::optim
