// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"

#include <cstdint>
#include <limits>

/// The gradient noise scale (McCandlish, Kaplan, Amodei, "An empirical model of large-batch training", arXiv
/// 1812.06162, appendix A). G is the gradient of the expected loss and Sigma the covariance of the gradients of single
/// examples; an example is a sequence. For a batch of B, E |g_B|^2 = |G|^2 + tr Sigma / B. B_simple = tr Sigma / |G|^2
/// is the batch size at which noise and signal are equal.
namespace bellwether::optim {

/// Coefficients of the expected squared norm of a part of a batch: signal |G|^2 + noise tr Sigma. The mean gradient of
/// b sequences has signal = 1 and noise = 1 / b.
struct BatchPart {
  double signal, noise;
};

/// Returns the coefficients of the mean over ranks of |g_r|^2: signal P sum b_r^2 / B^2, noise P / B. Rank r of P has
/// b_r of B sequences, floor(B / P) or one more. Its gradient g_r is P times its sum over the global count, that is, P
/// b_r / B times the mean of its sequences. So E |g_r|^2 = (P b_r / B)^2 (|G|^2 + tr Sigma / b_r).
BatchPart part_of_ranks(std::int64_t sequences, std::int64_t ranks);
/// Returns the coefficients of the first b = `part` of B sequences of one rank: signal (b / B)^2, noise b / B^2. The
/// part's gradient sum is divided by B.
BatchPart part_of_micro_batches(std::int64_t sequences, std::int64_t part);

/// Unbiased estimates from one step; NaN if the step yields none.
struct NoiseSample {
  double signal = std::numeric_limits<double>::quiet_NaN();  ///< |G|^2
  double trace = std::numeric_limits<double>::quiet_NaN();   ///< tr Sigma
};

/// Solves E part_square = signal |G|^2 + noise tr Sigma and E whole_square = |G|^2 + tr Sigma / B for |G|^2 and tr
/// Sigma. Returns NaN if a square is not finite, or the part is the whole batch.
NoiseSample noise_sample(BatchPart const& part, double part_square, double whole_square, std::int64_t sequences);

/// Smooths both estimates separately, because the mean of their ratios is not the ratio of their means. Both are
/// exponential averages from zero with the same decay, so the ratio has no start-up bias.
class NoiseScale {
 public:
  /// beta: decay per step, in [0, 1).
  explicit NoiseScale(double beta) : beta_(beta) {}

  /// Adds one step that was applied. A NaN sample changes nothing.
  void add(NoiseSample const& sample);
  double signal() const;  ///< bias-corrected |G|^2; NaN before the first sample
  double trace() const;   ///< bias-corrected tr Sigma, likewise
  /// Returns B_simple in sequences; NaN unless the estimate of |G|^2 is above 0.
  double simple() const;
  /// Returns the mean of simple() over the steps where it is known, from 1 / (1 - beta) samples on; NaN before. The
  /// paper predicts that more sequences than this in a step hardly reduce the number of steps.
  double critical_batch() const;
  void visit_state(StateVisitor& visit);

 private:
  double beta_;
  double signal_ = 0, trace_ = 0, weight_ = 0;  // exponential averages of |G|^2, tr Sigma and 1
  double sum_ = 0;                              // sum of simple()
  std::int64_t samples_ = 0, known_ = 0;
};

}  // namespace bellwether::optim
