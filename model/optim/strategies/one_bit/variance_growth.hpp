// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "core/memory/arena.hpp"
#include "core/memory/block_table.hpp"
#include "core/random/random.hpp"
#include "model/optim/monitor/gradient_check.hpp"

namespace bellwether::optim {

/// Columns in the sketch of a tensor's gradient. In one step the estimated squared norm has a relative deviation of
/// sqrt(2 / 32). In an average over 1 / (1 - beta2) steps it has a few percent.
inline constexpr Index growth_columns = 32;

/// Updates the sums by tensor of a frozen variance. Adam's variance of a tensor l sums up to
///     V_l <- beta2 V_l + (1 - beta2) |g_l|^2,
/// where g_l is its mean gradient after clipping. After the freeze the v_k of the elements are fixed, but this
/// recurrence continues from V_l = sum of v_k. The roots of v_k are multiplied by rho_l = sqrt(V_l / sum of v_k). No
/// rank computes the mean gradient. So |g_l|^2 comes from a sketch of each tensor with random signs:
///     sketch_l[c] = sum over j = c (mod 32) of sign(step, l, j) g_l[j].
/// As in gradient_sketch.hpp, the mean of the sketches over ranks is the sketch of the mean. The sign of element j of a
/// tensor is bit 31 - j mod 32 of word (j mod 128) div 32 of a draw. The draw is philox(o mod 2^32, 2^31 + j div 128,
/// step mod 2^32, step div 2^32), where o is the tensor's first element. Masked elements do not count.
class VarianceGrowth {
 public:
  /// roots: (tensors) memory of rho_l.
  VarianceGrowth(Exec const& exec, BlockTable<Exec> const& blocks, double beta2, RandomKey const& key,
                 Vec<float> const& roots);

  /// Sets the active elements and V_l at the freeze. active: (ceil(n / 32)) words, as for
  /// comm::CompressedAllreduce::set_active(); variance: (n). Does not wait.
  void survey(Exec const& exec, Vec<std::uint32_t> const& active, float const* variance);
  /// Sketches this rank's gradient in one read, 4 bytes an element. sketches: (32 tensors), written.
  void sketch(Exec const& exec, float const* gradient, std::int64_t step, float* sketches);
  /// Updates V_l from the mean of the sketches over ranks. Nothing changes if the gradient check says skip.
  void grow(Exec const& exec, Vec<GradientCheck> const& gradient_check, float const* sketches);

  /// If the checkpoint contains V_l, scales the variance for a return to the dense phase: v_k <- rho_l^2 v_k, so that
  /// it sums up to V_l. variance: (n). Waits.
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
  Vec<double> sums_;     // (tensors) sum of v_k
  Vec<float> growth_;    // (tensors) V_l / sum of v_k
  Vec<float> roots_;     // (tensors) rho_l
};

/// Measures the change of the variance since the last look at it. Here V_l = factor * sum of v_k over tensor l, and
/// V_l' is the same at the last look. The change is
///     sum over tensors of |V_l - V_l'| / sum over tensors of V_l'.
/// If all tensors change by the same factor, this is the change of the whole norm, which 1-bit Adam's freeze uses. The
/// whole norm alone is useless while gradients are clipped, because clipping fixes it.
class VarianceDrift {
 public:
  explicit VarianceDrift(BlockTable<Exec> const& blocks);

  /// Returns the change since the last call, NaN at the first. variance: (n). Equal on all ranks if the variance is.
  /// Waits.
  double since_last(Exec const& exec, float const* variance, double factor);
  void visit_state(StateVisitor& visit);
  std::int64_t bytes() const;

 private:
  BlockTable<Exec> const& blocks_;
  Vec<double> partial_;  // (blocks)
  Vec<double> sums_;     // (tensors) sum of v_k
  Vec<float> last_;      // (tensors) V_l of the last call
};

/// A gradient that is sketched by tensor, and the signs of its sketches.
struct TensorGradient {
  float const* values;          ///< (n)
  std::uint32_t const* active;  ///< (ceil(n / 32)) words; nullptr: all elements count
  RandomKey key;                ///< of the run's sketches
  std::int64_t step;            ///< signs differ from step to step
};

/// Numbers by tensor of a frozen variance, (tensors) each.
template <class Space>
struct GrownVariance {
  Vec<double, Space> const& sums;   ///< sum of v_k
  Vec<float, Space> const& growth;  ///< V_l / sum of v_k, updated
  Vec<float, Space> const& roots;   ///< rho_l, written
};

/// Kernels of both classes. partial: (32 blocks) scratch; sketches: (32 tensors), written.
template <class Space>
void sketch_tensors(Space const& exec, BlockTable<Space> const& table, TensorGradient const& gradient,
                    Vec<float, Space> const& partial, float* sketches);
/// active: as in TensorGradient; partial: (blocks) scratch; sums: (tensors), written.
template <class Space>
void sum_tensors(Space const& exec, BlockTable<Space> const& table, float const* values, std::uint32_t const* active,
                 Vec<double, Space> const& partial, Vec<double, Space> const& sums);
template <class Space>
void grow_variance(Space const& exec, double beta2, Vec<GradientCheck, Space> const& gradient_check,
                   float const* sketches, GrownVariance<Space> const& variance);
/// values_k <- factors_l values_k for the elements of each tensor l.
template <class Space>
void scale_tensors(Space const& exec, BlockTable<Space> const& table, Vec<float, Space> const& factors, float* values);

}  // namespace bellwether::optim
