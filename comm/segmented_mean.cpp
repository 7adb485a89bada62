// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/segmented_mean.hpp"

#include "core/error.hpp"

#include <exception>

namespace bellwether::comm {

SegmentedMean::SegmentedMean(Communicator& communicator, std::span<Index const> counts, Wire wire, Allreduce method)
    : communicator_(communicator) {
  for (Index const count : counts) {
    means_.emplace_back(communicator, count, wire, method);
    times_.push_back({.elements = count, .started = {}, .summed = {}, .finished = {}});
  }
}

SegmentedMean::~SegmentedMean() {
  if (finished_ == started_ || std::uncaught_exceptions() == 0) return;
  // Never destroyed: transport may outlive every static object.
  static auto* const kept = new std::vector<std::vector<DenseMean>>;
  kept->push_back(std::move(means_));
}

void SegmentedMean::start(Exec const& exec, Vec<float> const& inout) {
  require(started_ < means_.size(), "a mean has no more segments");
  auto& times = times_[started_];
  require(static_cast<Index>(inout.extent(0)) == times.elements, "a segment of another length");
  times.started = Clock::now();
  means_[started_++].start(exec, inout);
}

void SegmentedMean::gather_next(Exec const& exec) {
  means_[gathering_].gather(exec);
  times_[gathering_++].summed = Clock::now();
}

void SegmentedMean::finish_next(Exec const& exec) {
  means_[finished_].wait(exec);
  times_[finished_++].finished = Clock::now();
}

void SegmentedMean::advance(Exec const& exec) {
  // Where the device orders collectives, their order must be the same on all ranks, whatever has arrived.
  if (!communicator_.leaves_host_free()) {
    while (gathering_ < started_ && means_[gathering_].scattered()) gather_next(exec);
    while (finished_ < gathering_ && means_[finished_].gathered()) finish_next(exec);
  }
  communicator_.progress();
}

void SegmentedMean::wait(Exec const& exec) {
  require(started_ == means_.size(), "all segments of a mean are started before it is waited for");
  while (gathering_ < started_) gather_next(exec);
  while (finished_ < started_) finish_next(exec);
  started_ = gathering_ = finished_ = 0;
}

std::int64_t SegmentedMean::buffer_bytes() const {
  std::int64_t sum = 0;
  for (auto const& mean : means_) sum += mean.buffer_bytes();
  return sum;
}

}  // namespace bellwether::comm
