// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "model/optim/monitor/step_record.hpp"

namespace bellwether::optim {

/// Gradients that travel together.
struct GradientSegment {
  SliceRange elements;
  BlockRange blocks;  ///< that have elements in it or behind it, and in no segment before it
  Index needs;        ///< gradients from here on, with which the oldest of these blocks begins
};

/// Elements of a segment at least, of `count` in all, where the deck says nothing else.
Index usual_segment(Index count, comm::Wire wire, int ranks);

/// Cuts a layout from its end, where backward is done first, to its front, into segments of `least` elements, rounded
/// up to a multiple of the ranks, and a last one of what is left: together every rank then sends what it would for one
/// mean of the whole.
std::vector<GradientSegment> cut_into_segments(ParameterLayout const& layout, Index least, int ranks);

/// The dense exchange of a step: the mean gradient over ranks and the gradient check on it, with the mean of the
/// squares of the ranks' own norms. Gradients travel in segments, while backward forms others where gradient_ready() is
/// told.
class DenseStep {
 public:
  DenseStep(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record);

  /// Optimizer::gradient_ready(), for ranges that follow each other from the end of the layout to its front; of others
  /// it takes no notice. The gradients of the range are this rank's until now: their norm is taken first.
  void gradient_ready(Exec const& exec, Arena<>& gradients, SliceRange range);
  /// Optimizer::forget_gradients().
  void forget_gradients(Exec const& exec, Arena<>& gradients);
  /// Whether gradients of a step to come are with the transport already.
  bool under_way() const { return mean_.started() > 0; }
  /// Opens the record's step. The mean of `gradients` over ranks in place, and the gradient check on it.
  StepReport& reduce(Exec const& exec, Arena<>& gradients);
  std::int64_t bytes() const;
  /// What this rank sends in a dense step.
  static SentBytes predicted_bytes(OptimizerContext const& context);

 private:
  /// Adds what `calls` hand to the transport to a sum.
  template <class Calls>
  void counted(comm::Traffic& sum, Calls const& calls);
  void start_next(Exec const& exec, Arena<>& gradients);

  comm::Communicator& data_;
  double clip_;
  StepRecord& record_;
  std::vector<GradientSegment> segments_;  // none on one rank
  comm::SegmentedMean mean_;
  comm::DenseMean norm_mean_;
  Vec<double> partial_;  // (blocks)
  Vec<float> norms_;     // (P) norms of the ranks' own gradients; none on one rank
  SentBytes predicted_;
  bool overlaps_;
  bool met_ = false;                         // after the first step
  Index ready_from_;                         // gradients from here on are there
  std::vector<Clock::time_point> ready_at_;  // (segments) when the last of each was
  comm::Traffic exchange_, scalars_;         // of the step
};

}  // namespace bellwether::optim
