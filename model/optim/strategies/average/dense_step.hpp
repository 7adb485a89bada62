// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "model/optim/monitor/step_record.hpp"

namespace bellwether::optim {

/// Gradients that are sent together.
struct GradientSegment {
  SliceRange elements;
  BlockRange blocks;  ///< blocks with elements in or after this segment that belong to no earlier segment
  Index needs;        ///< the segment can be sent once all gradients from here on are ready
};

/// Returns the default length of a segment, in elements, for a model of `count` elements.
Index usual_segment(Index count, comm::Wire wire, int ranks);

/// Divides a layout into segments, from its end, where backward finishes first, to its front. Segments have `least`
/// elements, rounded up to a multiple of the ranks; the last has the rest. So every rank sends as many bytes as for one
/// mean of the whole.
std::vector<GradientSegment> cut_into_segments(ParameterLayout const& layout, Index least, int ranks);

/// The dense exchange of a step: the mean gradient over ranks, its gradient check, and the mean square of the ranks'
/// norms. After gradient_ready(), segments are sent while backward computes others.
class DenseStep {
 public:
  DenseStep(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record);

  /// Implements Optimizer::gradient_ready() for adjacent ranges from the end of the layout to its front; ignores
  /// others. Computes the local norm of the range before it is sent.
  void gradient_ready(Exec const& exec, Arena<>& gradients, SliceRange range);
  /// Implements Optimizer::forget_gradients().
  void forget_gradients(Exec const& exec, Arena<>& gradients);
  /// Returns whether gradients of the next step are already being sent.
  bool under_way() const { return mean_.started() > 0; }
  /// Opens the record's step. Replaces `gradients` by their mean over ranks.
  StepReport& reduce(Exec const& exec, Arena<>& gradients);
  /// Checks the mean gradient. Call it after reduce().
  void check_gradient(Exec const& exec, Arena<> const& gradients);
  std::int64_t bytes() const;
  /// Returns what this rank sends in a dense step.
  static SentBytes predicted_bytes(OptimizerContext const& context);

 private:
  /// Runs `calls` and adds the traffic they cause to a sum.
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
  Vec<float> norms_;     // (P) norms of the local gradients; empty on one rank
  SentBytes predicted_;
  bool overlaps_;
  bool met_ = false;                         // true after the first step
  Index ready_from_;                         // gradients from here on are ready
  std::vector<Clock::time_point> ready_at_;  // (segments) when the last gradient of each was ready
  comm::Traffic exchange_, scalars_;         // of this step
};

}  // namespace bellwether::optim
