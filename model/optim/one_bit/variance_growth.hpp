// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "core/memory/arena.hpp"
#include "core/memory/block_table.hpp"
#include "core/random/random.hpp"
#include "model/optim/monitor/gradient_check.hpp"

namespace bellwether::optim {

/// Numbers that a tensor's gradient is sketched into: the squared norm that they estimate has a relative deviation of
/// sqrt(2 / 32) a step, of which an average over 1 / (1 - beta2) steps leaves a few percent.
inline constexpr Index growth_columns = 32;

/// The sums of a kept variance by tensor, which go on. Adam's variance of a tensor l sums up to
///     V_l <- beta2 V_l + (1 - beta2) |g_l|^2,
/// g_l its mean gradient after clipping. After the freeze v_k of the elements stays, and this recurrence goes on from
/// V_l = sum of v_k: the root of v_k is then multiplied by rho_l = sqrt(V_l / sum of v_k). Nobody forms the mean
/// gradient, so |g_l|^2 comes from a sketch with random signs by tensor, as gradient_sketch.hpp does for the whole,
///     sketch_l[c] = sum over j = c (mod 32) of sign(step, l, j) g_l[j],
/// whose mean over ranks is the sketch of the mean. Element j of the tensor whose first element is o has bit 31 - j mod
/// 32 of word (j mod 128) div 32 of philox(o mod 2^32, 2^31 + j div 128, step mod 2^32, step div 2^32). Masked elements
/// do not count.
class VarianceGrowth {
 public:
  /// roots: (tensors), where rho_l is kept.
  VarianceGrowth(Exec const& exec, BlockTable<Exec> const& blocks, double beta2, RandomKey const& key,
                 Vec<float> const& roots);

  /// Which elements count, and V_l at the freeze. active: (ceil(n / 32)) words, as
  /// comm::CompressedAllreduce::set_active() takes them; variance: (n). Does not wait.
  void survey(Exec const& exec, Vec<std::uint32_t> const& active, float const* variance);
  /// This rank's sketches: one pass over the gradient, 4 bytes an element. sketches: (32 tensors), written.
  void sketch(Exec const& exec, float const* gradient, std::int64_t step, float* sketches);
  /// V_l from the mean over ranks of the sketches; nothing changes where the gradient check says skip.
  void grow(Exec const& exec, Vec<GradientCheck> const& gradient_check, float const* sketches);

  /// Where a checkpoint holds V_l and every element's variance goes on from here: v_k <- rho_l^2 v_k, so that it sums
  /// up to V_l. variance: (n). Waits.
  static void apply(StateVisitor& visit, Exec const& exec, BlockTable<Exec> const& blocks, float* variance);

  static Index sketches(Index tensors) { return growth_columns * tensors; }
  void visit_state(StateVisitor& visit);
  std::int64_t bytes() const { return predicted_bytes(blocks_); }
  static std::int64_t predicted_bytes(BlockTable<Exec> const& blocks);

 private:
  BlockTable<Exec> const& blocks_;
  double beta2_;
  RandomKey key_;
  Vec<std::uint32_t> active_;
  Vec<float> partial_;   // (32 blocks)
  Vec<double> squares_;  // (blocks)
  Vec<double> sums_;     // (tensors) of v_k
  Vec<float> growth_;    // (tensors) V_l over that
  Vec<float> roots_;     // (tensors) rho_l
};

/// How far the variance has moved between two looks at it, by its sums over each tensor:
///     sum over tensors of |V_l - V_l'| / sum over tensors of V_l',  V_l = factor * sum of v_k, V_l' the same before.
/// Where all tensors move alike this is the change of the whole norm, which 1-bit Adam's freeze looks at. That norm
/// alone says nothing while gradients are clipped: it is the clip's own square then, whatever moves below it.
class VarianceDrift {
 public:
  explicit VarianceDrift(BlockTable<Exec> const& blocks);

  /// Since the last call; NaN in the first. variance: (n). Equal on all ranks where the variance is. Waits.
  double since_last(Exec const& exec, float const* variance, double factor);
  void visit_state(StateVisitor& visit);
  std::int64_t bytes() const;

 private:
  BlockTable<Exec> const& blocks_;
  Vec<double> partial_;  // (blocks)
  Vec<double> sums_;     // (tensors) of v_k
  Vec<float> last_;      // (tensors) V_l of the last call
};

/// The kernels of both. active: nullptr where all elements count; partial: (32 blocks) scratch.
template <class Space>
void sketch_tensors(Space const& exec, BlockTable<Space> const& table, float const* gradient,
                    std::uint32_t const* active, RandomKey const& key, std::int64_t step,
                    Vec<float, Space> const& partial, float* sketches);
template <class Space>
void sum_tensors(Space const& exec, BlockTable<Space> const& table, float const* values, std::uint32_t const* active,
                 Vec<double, Space> const& partial, Vec<double, Space> const& sums);
template <class Space>
void grow_variance(Space const& exec, Index tensors, double beta2, Vec<GradientCheck, Space> const& gradient_check,
                   float const* sketches, Vec<double, Space> const& sums, Vec<float, Space> const& growth,
                   Vec<float, Space> const& roots);
/// values_k <- factors_l values_k for the elements of each tensor l.
template <class Space>
void scale_tensors(Space const& exec, BlockTable<Space> const& table, Vec<float, Space> const& factors, float* values);

}  // namespace bellwether::optim
