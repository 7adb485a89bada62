// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"

#include "comm/collective/dense_mean_kernels.hpp"
#include "core/memory/convert.hpp"
#include "core/system/error.hpp"

#include <exception>
#include <string>
#include <vector>

namespace bellwether::comm {
namespace {

Index chunk_first(Index count, int chunk, int size) {
  // Unlike count * chunk / size, this overflows only for more than 2^63 elements times ranks.
  return count / size * chunk + count % size * chunk / size;
}
Index chunk_count(Index count, int chunk, int size) {
  return chunk_first(count, chunk + 1, size) - chunk_first(count, chunk, size);
}

Index largest_chunk(Index count, int size) { return (count + size - 1) / size; }

template <class T>
Vec<T> buffer(std::string const& label, Index count) {
  return Vec<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(count));
}

/// Buffers of the exchange in wire type T.
template <class T>
struct RankOrderedExchange {
  Vec<T> received;  ///< (P * ceil(n/P)) all ranks' values of this rank's chunk
  Vec<T> mean;      ///< (ceil(n/P)) this rank's chunk of the mean
};

}  // namespace

struct DenseMean::Impl {
  Impl(Communicator& group, Index longest, Wire type, Allreduce how)
      : communicator(group), count(longest), wire(type), method(how) {
    require(longest >= 0, "dense mean: negative number of elements");
    if (method == Allreduce::library) {
      if (wire == Wire::bf16)
        throw InputError("comm.allreduce: library sums fp32 only; comm.dense_wire: bf16 needs comm.allreduce: ordered");
      return;
    }
    int const size = group.size();
    if (size == 1) return;
    chunk_bytes.resize(static_cast<std::size_t>(size));
    own_bytes.resize(static_cast<std::size_t>(size));
    Index const mine = largest_chunk(longest, size);
    if (wire == Wire::fp32) {
      fp32.received = buffer<float>("bellwether::comm::mean_received", mine * size);
      fp32.mean = buffer<float>("bellwether::comm::mean_chunk", mine);
    } else {
      rounded = buffer<bf16>("bellwether::comm::mean_rounded", longest);
      half.received = buffer<bf16>("bellwether::comm::mean_received", mine * size);
      half.mean = buffer<bf16>("bellwether::comm::mean_chunk", mine);
    }
  }

  template <class T>
  void scatter(Exec const& exec, RankOrderedExchange<T>& exchange, T* values) {
    int const size = communicator.size();
    Index const mine = chunk_count(active, communicator.rank(), size);
    for (int peer = 0; peer < size; ++peer) {
      auto const at = static_cast<std::size_t>(peer);
      chunk_bytes[at] = chunk_count(active, peer, size) * static_cast<Index>(sizeof(T));
      own_bytes[at] = mine * static_cast<Index>(sizeof(T));
    }
    request = communicator.start_alltoallv(exec, bytes(values, active), chunk_bytes,
                                           bytes(exchange.received.data(), mine * size), own_bytes,
                                           "bellwether::comm::mean_scatter");
  }

  template <class T>
  void gather(Exec const& exec, RankOrderedExchange<T>& exchange, T* values) {
    Index const mine = chunk_count(active, communicator.rank(), communicator.size());
    mean_in_rank_order(exec, mine, communicator.size(), static_cast<T const*>(exchange.received.data()),
                       exchange.mean.data());
    request = communicator.start_allgatherv(exec, bytes(exchange.mean.data(), mine), bytes(values, active), chunk_bytes,
                                            "bellwether::comm::mean_gather");
  }

  Communicator& communicator;
  Index count;
  Wire wire;
  Allreduce method;
  RankOrderedExchange<float> fp32;
  RankOrderedExchange<bf16> half;
  Vec<bf16> rounded;                      ///< (n)
  std::vector<std::int64_t> chunk_bytes;  ///< (P) bytes of every rank's chunk
  std::vector<std::int64_t> own_bytes;    ///< (P) bytes of this rank's chunk from every rank
  Vec<float> vector;                      ///< argument of start()
  Index active = 0;                       ///< its number of elements
  Request request;
  enum class Stage { idle, scattering, gathering } stage = Stage::idle;
};

DenseMean::DenseMean(Communicator& communicator, Index count, Wire wire, Allreduce method)
    : impl_(std::make_unique<Impl>(communicator, count, wire, method)) {}

DenseMean::~DenseMean() = default;
DenseMean::DenseMean(DenseMean&&) noexcept = default;

void DenseMean::start(Exec const& exec, Vec<float> const& inout) {
  Impl& mean = *impl_;
  require(mean.stage == Impl::Stage::idle, "the previous mean is not finished");
  require(static_cast<Index>(inout.extent(0)) <= mean.count, "the vector is longer than the mean's buffers");
  mean.stage = Impl::Stage::scattering;
  if (mean.communicator.size() == 1) return;
  mean.vector = inout;
  mean.active = static_cast<Index>(inout.extent(0));
  if (mean.method == Allreduce::library) {
    mean.request =
        mean.communicator.start_library_sum(exec, inout.data(), mean.active, "bellwether::comm::library_sum");
  } else if (mean.wire == Wire::fp32) {
    mean.scatter(exec, mean.fp32, inout.data());
  } else {
    convert("bellwether::comm::round_to_wire", exec, mean.active, static_cast<float const*>(inout.data()),
            mean.rounded.data());
    mean.scatter(exec, mean.half, mean.rounded.data());
  }
}

bool DenseMean::scattered() const {
  Impl const& mean = *impl_;
  return mean.stage == Impl::Stage::scattering && (!mean.request.pending() || mean.communicator.ended(mean.request));
}

bool DenseMean::gathered() const {
  Impl const& mean = *impl_;
  return mean.stage == Impl::Stage::gathering && (!mean.request.pending() || mean.communicator.ended(mean.request));
}

void DenseMean::gather(Exec const& exec) {
  Impl& mean = *impl_;
  require(mean.stage == Impl::Stage::scattering, "gather() was called before start()");
  if (mean.communicator.size() > 1) {
    mean.communicator.wait(mean.request);
    if (mean.method == Allreduce::library)
      divide_by_ranks(exec, mean.active, mean.communicator.size(), mean.vector.data());
    else if (mean.wire == Wire::fp32)
      mean.gather(exec, mean.fp32, mean.vector.data());
    else
      mean.gather(exec, mean.half, mean.rounded.data());
  }
  mean.stage = Impl::Stage::gathering;
}

void DenseMean::wait(Exec const& exec) {
  Impl& mean = *impl_;
  require(mean.stage != Impl::Stage::idle, "wait() was called before start()");
  if (mean.stage == Impl::Stage::scattering) gather(exec);
  if (mean.request.pending()) {
    mean.communicator.wait(mean.request);
    if (mean.wire == Wire::bf16)
      convert("bellwether::comm::read_from_wire", exec, mean.active, static_cast<bf16 const*>(mean.rounded.data()),
              mean.vector.data());
  }
  mean.vector = Vec<float>();
  mean.stage = Impl::Stage::idle;
}

std::int64_t DenseMean::predicted_bytes(Index count, int rank, int size, Wire wire, Allreduce method) {
  if (size == 1) return 0;
  if (method == Allreduce::library) return 4 * count;
  Index const mine = chunk_count(count, rank, size);
  return bytes_of(wire) * ((count - mine) + (size - 1) * mine);
}

Traffic DenseMean::predicted_traffic(Communicator const& group, Index count, Wire wire, Allreduce method) {
  int const size = group.size();
  Traffic traffic{.sent_bytes = predicted_bytes(count, group.rank(), size, wire, method)};
  Index const mine = chunk_count(count, group.rank(), size);
  int neighbours = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == group.rank() || !group.shares_node(peer)) continue;
    ++neighbours;
    if (method == Allreduce::ordered)
      traffic.intra_node_bytes += bytes_of(wire) * (chunk_count(count, peer, size) + mine);
  }
  // The library's routing is unknown; only with one node is all traffic intra-node.
  if (method == Allreduce::library && neighbours + 1 == size) traffic.intra_node_bytes = traffic.sent_bytes;
  return traffic;
}

std::int64_t DenseMean::buffer_bytes() const {
  auto const size_of = [](auto const& view) { return static_cast<std::int64_t>(view.size() * sizeof(view.data()[0])); };
  return size_of(impl_->fp32.received) + size_of(impl_->fp32.mean) + size_of(impl_->half.received) +
         size_of(impl_->half.mean) + size_of(impl_->rounded);
}

SegmentedMean::SegmentedMean(Communicator& communicator, std::span<Index const> counts, Wire wire, Allreduce method)
    : communicator_(communicator) {
  for (Index const count : counts) {
    means_.emplace_back(communicator, count, wire, method);
    times_.push_back({.elements = count, .started = {}, .summed = {}, .finished = {}});
  }
}

SegmentedMean::~SegmentedMean() {
  if (finished_ == started_ || std::uncaught_exceptions() == 0) return;
  // Never destroyed: the transport may outlive every static object.
  static auto* const kept = new std::vector<std::vector<DenseMean>>;
  kept->push_back(std::move(means_));
}

void SegmentedMean::start(Exec const& exec, Vec<float> const& inout) {
  require(started_ < means_.size(), "all segments of the mean were already started");
  auto& times = times_[started_];
  require(static_cast<Index>(inout.extent(0)) == times.elements, "the segment has the wrong length");
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
  // If the device orders collectives, their order must be the same on all ranks, regardless of what has arrived.
  if (!communicator_.leaves_host_free()) {
    while (gathering_ < started_ && means_[gathering_].scattered()) gather_next(exec);
    while (finished_ < gathering_ && means_[finished_].gathered()) finish_next(exec);
  }
  communicator_.progress();
}

void SegmentedMean::wait(Exec const& exec) {
  require(started_ == means_.size(), "wait() was called before all segments were started");
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
