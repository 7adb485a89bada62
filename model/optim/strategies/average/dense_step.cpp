// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/average/dense_step.hpp"

#include "core/system/error.hpp"

#include <algorithm>

namespace bellwether::optim {
namespace {

/// Returns how many norms are exchanged. A single rank's gradient is the mean already, so it exchanges none.
Index norms_of(comm::Communicator const& data) { return data.size() > 1 ? data.size() : 0; }

Index least_elements(OptimizerContext const& context) {
  return context.comm.dense_segment.value_or(
      usual_segment(context.layout.count(), context.comm.dense_wire, context.groups.data.size()));
}

std::vector<GradientSegment> segments_of(OptimizerContext const& context) {
  auto const& layout = context.layout;
  if (context.groups.data.size() == 1) return {};
  // The library's allreduce gives other sums for segments than for the whole, and its calls do not overlap: do not cut.
  bool const cuts = context.comm.allreduce == comm::Allreduce::ordered;
  return cut_into_segments(layout, cuts ? least_elements(context) : std::max<Index>(1, layout.count()),
                           context.groups.data.size());
}

std::vector<Index> counts_of(std::vector<GradientSegment> const& segments) {
  std::vector<Index> counts;
  for (auto const& segment : segments) counts.push_back(segment.elements.last - segment.elements.first);
  return counts;
}

}  // namespace

// Short segments start and end earlier, and small models have few layers to overlap. But each segment costs a message
// to every rank and back, and a message outweighs its overhead only from about 64 KiB on.
Index usual_segment(Index count, comm::Wire wire, int ranks) {
  constexpr Index usual = Index{1} << 20, parts = 64, message = Index{64} << 10;
  return std::max(std::min(usual, count / parts), message / bytes_of(wire) * ranks);
}

std::vector<GradientSegment> cut_into_segments(ParameterLayout const& layout, Index least, int ranks) {
  require(least >= 1 && ranks >= 1, "a segment needs at least one element");
  Index const longest = (least + ranks - 1) / ranks * ranks;
  auto const blocks = cut_into_blocks(layout);
  auto const block_of = [&](Index b) { return blocks[static_cast<std::size_t>(b)]; };
  std::vector<GradientSegment> segments;
  Index block = std::ssize(blocks);
  for (Index last = layout.count(); last > 0;) {
    Index const first = std::max<Index>(0, last - longest), end = block;
    while (block > 0 && block_of(block - 1).first + block_of(block - 1).count > first) --block;
    segments.push_back({.elements = {first, last}, .blocks = {block, end}, .needs = block_of(block).first});
    last = first;
  }
  return segments;
}

DenseStep::DenseStep(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record)
    : data_(context.groups.data),
      clip_(config.clip),
      record_(record),
      segments_(segments_of(context)),
      mean_(data_, counts_of(segments_), context.comm.dense_wire, context.comm.allreduce),
      norm_mean_(data_, norms_of(data_), comm::Wire::fp32, comm::Allreduce::ordered),
      partial_("bellwether::optim::gradient_squares", static_cast<std::size_t>(record.blocks().count())),
      norms_("bellwether::optim::local_norms", static_cast<std::size_t>(norms_of(data_))),
      predicted_(predicted_bytes(context)),
      overlaps_(context.comm.allreduce == comm::Allreduce::ordered),
      ready_from_(context.layout.count()),
      ready_at_(segments_.size()) {}

template <class Calls>
void DenseStep::counted(comm::Traffic& sum, Calls const& calls) {
  comm::Traffic const before = data_.traffic();
  calls();
  comm::Traffic const now = data_.traffic();
  sum.sent_bytes += now.sent_bytes - before.sent_bytes;
  sum.intra_node_bytes += now.intra_node_bytes - before.intra_node_bytes;
}

void DenseStep::start_next(Exec const& exec, Arena<>& gradients) {
  auto const& segment = segments_[mean_.started()];
  auto const [first, last] = segment.elements;
  if (segment.blocks.first < segment.blocks.last)
    square_blocks(exec, record_.blocks(), segment.blocks, gradients.data(), partial_);
  mean_.start(exec, Kokkos::subview(gradients.flat(), std::pair(first, last)));
}

void DenseStep::gradient_ready(Exec const& exec, Arena<>& gradients, SliceRange range) {
  require(range.first <= range.last && range.last <= ready_from_, "gradients of this range are ready already");
  if (range.last < ready_from_) return;
  ready_from_ = range.first;
  auto const is_ready = [&](std::size_t s) { return s < segments_.size() && segments_[s].needs >= ready_from_; };
  auto const now = Clock::now();
  for (std::size_t s = 0; is_ready(s); ++s)
    if (segments_[s].needs < range.last) ready_at_[s] = now;
  // The first step sends all segments at once, so that the communicator allocates the most memory it will ever need.
  if (!overlaps_ || !met_) return;
  counted(exchange_, [&] {
    while (is_ready(mean_.started())) start_next(exec, gradients);
    mean_.advance(exec);
  });
}

void DenseStep::forget_gradients(Exec const& exec, Arena<>& gradients) {
  // Send all segments: a rank without sequences announced nothing, but the other ranks wait for its segments.
  if (overlaps_ && met_ && !segments_.empty()) {
    while (mean_.started() < segments_.size()) start_next(exec, gradients);
    mean_.wait(exec);
  }
  exchange_ = {};
  ready_from_ = gradients.count();
}

StepReport& DenseStep::reduce(Exec const& exec, Arena<>& gradients) {
  auto& report = record_.open(exec);
  auto const now = Clock::now();
  for (std::size_t s = 0; s < segments_.size(); ++s)
    if (segments_[s].needs < ready_from_) ready_at_[s] = now;
  bool const exchanges = !segments_.empty();
  counted(exchange_, [&] {
    while (mean_.started() < segments_.size()) start_next(exec, gradients);
  });
  if (exchanges) {
    place_norm(exec, record_.blocks(), data_.rank(), partial_, norms_);
    counted(scalars_, [&] { norm_mean_.start(exec, norms_); });
    counted(exchange_, [&] { mean_.wait(exec); });
    counted(scalars_, [&] { norm_mean_.wait(exec); });
  }
  report.phase = Phase::dense;
  report.sent = {.exchange = exchange_.sent_bytes,
                 .scalars = scalars_.sent_bytes,
                 .intra_node = exchange_.intra_node_bytes + scalars_.intra_node_bytes,
                 .dense_fp32 = predicted_.dense_fp32,
                 .dense_16bit = predicted_.dense_16bit};
  report.segments.clear();
  for (std::size_t s = 0; s < segments_.size(); ++s)
    report.segments.push_back({segments_[s].elements, ready_at_[s], mean_.times()[s]});
  exchange_ = scalars_ = {};
  ready_from_ = gradients.count();
  met_ = true;
  return report;
}

void DenseStep::check_gradient(Exec const& exec, Arena<> const& gradients) {
  optim::check_gradient(exec, record_.blocks(), {.values = gradients.data(), .local_norms = norms_},
                        {.clip = clip_, .limit = record_.norm_limit()}, partial_, record_.gradient_check());
}

SentBytes DenseStep::predicted_bytes(OptimizerContext const& context) {
  auto const& data = context.groups.data;
  auto const sent = [&](Index count, comm::Wire wire, comm::Allreduce method) {
    return comm::DenseMean::predicted_traffic(data, count, wire, method);
  };
  // Segments do not change the sum, see cut_into_segments().
  Index const n = context.layout.count();
  auto const exchange = sent(n, context.comm.dense_wire, context.comm.allreduce);
  auto const scalars = sent(norms_of(data), comm::Wire::fp32, comm::Allreduce::ordered);
  return {.exchange = exchange.sent_bytes,
          .scalars = scalars.sent_bytes,
          .intra_node = exchange.intra_node_bytes + scalars.intra_node_bytes,
          .dense_fp32 = sent(n, comm::Wire::fp32, comm::Allreduce::ordered).sent_bytes,
          .dense_16bit = sent(n, comm::Wire::bf16, comm::Allreduce::ordered).sent_bytes};
}

std::int64_t DenseStep::bytes() const {
  return mean_.buffer_bytes() + norm_mean_.buffer_bytes() +
         static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + norms_.extent(0) * sizeof(float));
}

}  // namespace bellwether::optim
