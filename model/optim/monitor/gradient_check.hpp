// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/arena.hpp"
#include "core/memory/block_table.hpp"

namespace bellwether::optim {

/// What the mean gradient of a step allows, formed where kernels read it. All ranks hold the same mean bit for bit and
/// sum it in the same order, so they agree without another reduction.
struct GradientCheck {
  double norm = 0;         ///< global norm before clipping; not finite where skip
  double clip_factor = 1;  ///< see clip_factor()
  /// Squared norm of the mean gradient, itself or an estimate without bias, and the mean over ranks of the squared
  /// norms of their own gradients, both before clipping; NaN: not known.
  double mean_square = Kokkos::Experimental::quiet_NaN_v<double>;
  double local_square = Kokkos::Experimental::quiet_NaN_v<double>;
  /// First rank whose own gradient has an element that is not finite, and its first such tensor. Rank -1: every rank's
  /// own is finite, or not known; then the tensor is that of the mean, or -1 where only a sum over elements overflows.
  Index bad_rank = -1;
  Index bad_tensor = -1;
  /// Where the norm is above the limit: the running mean of norms. 0: it is not.
  double usual_norm = 0;
  std::int32_t skip = 0;  ///< 1: some element is not finite or the norm is above the limit, nothing may change
};

/// Skips steps whose norm is more than `limit` times the running mean of norms, that of about the last 100 steps, known
/// after 20 of them; it names the rank with the largest norm of its own.
struct NormLimit {
  static constexpr double memory = 0.99;
  double limit = 0;          ///< 0: there is none
  double known_weight = 0;   ///< of the mean after 20 steps
  float* history = nullptr;  ///< (2), weighted sum and weights, at first 0; written

  /// result: with its norm, finite. local_norms: (ranks), in any common unit.
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

/// One pass over the gradient. gradient: (n); partial: (blocks), scratch; gradient_check: (1), written. Two launches, 4
/// bytes an element. A square of a finite float is at most 1.2e77, so a sum of squares in double is finite exactly
/// where all elements are. local_norms: (P), the mean over ranks of what place_norm() makes, for local_square and the
/// rank that is to blame; none: the gradient is that of the only rank.
template <class Space>
void check_gradient(Space const& exec, BlockTable<Space> const& table, float const* gradient, double clip,
                    Vec<double, Space> const& partial, Vec<GradientCheck, Space> const& gradient_check,
                    Vec<float, Space> const& local_norms = {}, NormLimit const& limit = {});

/// The tensor with the largest part of a gradient's square. gradient: (n). Waits and takes memory: not for every step.
template <class Space>
Index largest_tensor(Space const& exec, ParameterLayout const& layout, float const* gradient);

/// Blocks [first, last) of a table.
struct BlockRange {
  Index first = 0, last = 0;
};

/// partial[b] = sum of the squares of block b, for b of `range`. gradient: (n); partial: (blocks).
template <class Space>
void square_blocks(Space const& exec, BlockTable<Space> const& table, BlockRange range, float const* gradient,
                   Vec<double, Space> const& partial);

/// norms[rank] = norm of the gradient, or where that is not finite the negative of one more than the first tensor to
/// blame; 0 for all others. Their mean over ranks holds every number, divided by P. partial: (blocks), what
/// square_blocks() made of all of them; norms: (P), written.
template <class Space>
void place_norm(Space const& exec, BlockTable<Space> const& table, int rank, Vec<double, Space> const& partial,
                Vec<float, Space> const& norms);

/// The norm of a gradient that is not complete yet: after the first of several passes it is the small batch that the
/// noise scale of a single rank needs.
class PartNorm {
 public:
  explicit PartNorm(ParameterLayout const& layout);

  /// One pass over the gradient as it is now, 4 bytes an element; does not wait.
  void measure(Exec const& exec, Arena<> const& gradients);
  /// Squared norm of a finite gradient; read once that is done.
  double square() const { return static_cast<double>(host_(0)) * host_(0); }
  std::int64_t bytes() const;

 private:
  BlockTable<Exec> blocks_;
  Vec<double> partial_;  // (blocks)
  Vec<float> norm_;      // (1)
  HostCopy<float> host_;
};

}  // namespace bellwether::optim
