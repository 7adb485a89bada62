// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"

#include <cstdint>
#include <limits>

/// The gradient noise scale (McCandlish, Kaplan, Amodei, "An empirical model of large-batch training", arXiv
/// 1812.06162, appendix A). G is the gradient of the expected loss, Sigma the covariance of the gradients of single
/// examples; an example is a sequence. A batch of B of them has E |g_B|^2 = |G|^2 + tr Sigma / B, and B_simple = tr
/// Sigma / |G|^2 is the batch at which noise and signal are as large as each other.
namespace bellwether::optim {

/// What the squared norm of part of a batch is expected to be: signal |G|^2 + noise tr Sigma. signal = 1 and noise = 1
/// / b for the mean gradient of b sequences.
struct BatchPart {
  double signal, noise;
};

/// Rank r of P holds b_r of B sequences, floor(B / P) or one more. Its gradient is P times its sum over the global
/// count, P b_r / B times the mean of its own sequences, so E |g_r|^2 = (P b_r / B)^2 (|G|^2 + tr Sigma / b_r), and the
/// mean over ranks has signal P sum b_r^2 / B^2 and noise P / B.
BatchPart part_of_ranks(std::int64_t sequences, std::int64_t ranks);
/// The first `part` of B sequences of one rank, whose sum is divided by the count of all: signal (b / B)^2, noise b /
/// B^2.
BatchPart part_of_micro_batches(std::int64_t sequences, std::int64_t part);

/// Unbiased estimates from one step; NaN where it tells nothing.
struct NoiseSample {
  double signal = std::numeric_limits<double>::quiet_NaN();  ///< |G|^2
  double trace = std::numeric_limits<double>::quiet_NaN();   ///< tr Sigma
};

/// Solves E part_square = signal |G|^2 + noise tr Sigma and E whole_square = |G|^2 + tr Sigma / B for |G|^2 and tr
/// Sigma. NaN where a square is not finite, or the part is all of the batch.
NoiseSample noise_sample(BatchPart const& part, double part_square, double whole_square, std::int64_t sequences);

/// Both estimates smoothed separately, because the mean of their ratios is not the ratio of their means: exponential
/// averages from zero with one decay, whose bias the ratio does not see.
class NoiseScale {
 public:
  /// beta: decay a step, in [0, 1).
  explicit NoiseScale(double beta) : beta_(beta) {}

  /// One step that was made; a sample that tells nothing changes nothing.
  void add(NoiseSample const& sample);
  double signal() const;  ///< |G|^2 without the bias of the start; NaN before the first sample
  double trace() const;   ///< tr Sigma, likewise
  /// B_simple in sequences; NaN where |G|^2 does not stand out of the noise, that is, is not above 0.
  double simple() const;
  /// Mean of simple() over steps where it is known, once 1 / (1 - beta) of them have been smoothed: the paper's
  /// prediction of the batch beyond which more sequences a step hardly save steps. NaN before.
  double critical_batch() const;
  void visit_state(StateVisitor& visit);

 private:
  double beta_;
  double signal_ = 0, trace_ = 0, weight_ = 0;  // smoothed: the two and 1
  double sum_ = 0;                              // of simple()
  std::int64_t samples_ = 0, known_ = 0;
};

}  // namespace bellwether::optim
