// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_allreduce.hpp"

#include "comm/collective/dense_mean.hpp"
#include "core/device/device_progress.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace bellwether::comm {
namespace {

template <class T>
Vec<T> buffer(char const* label, Index count) {
  return Vec<T>(std::string(label), static_cast<std::size_t>(count));
}

template <class T>
Vec<T> uploaded(char const* label, std::vector<T> const& values) {
  Vec<T> const device(std::string(label), values.size());
  Kokkos::deep_copy(device, Kokkos::View<T const*, Kokkos::HostSpace>(values.data(), values.size()));
  return device;
}

template <class T>
std::int64_t bytes_of(T const& view) {
  return static_cast<std::int64_t>(view.size() * sizeof(typename T::value_type));
}

/// State of a worker or a server: residual, partition, and the scales of the last call.
struct End {
  End(Index elements, std::vector<WordBlock> const& cut, std::vector<ScaleRange> const& of_scales,
      std::vector<ScaleSlot> const& in_message, std::vector<Index> const& of_segments,
      std::uint32_t const* active_words)
      : count(elements),
        segments(of_segments),
        active(active_words),
        z(buffer<float>("bellwether::comm::residual", elements)),
        blocks(uploaded("bellwether::comm::blocks", cut)),
        ranges(uploaded("bellwether::comm::scale_ranges", of_scales)),
        slots(uploaded("bellwether::comm::scale_slots", in_message)),
        partial(buffer<double>("bellwether::comm::partial", sums_of_words * static_cast<Index>(cut.size()))),
        kept(buffer<float>("bellwether::comm::scales", static_cast<Index>(of_scales.size()))),
        errors(buffer<double>("bellwether::comm::errors", static_cast<Index>(of_scales.size()))),
        host_scales("bellwether::comm::host_scales", kept.extent(0)),
        host_errors("bellwether::comm::host_errors", errors.extent(0)) {}

  BlockSlice all() const { return {blocks.data(), static_cast<Index>(blocks.extent(0))}; }
  BlockSlice slice(Index segment) const {
    auto const at = static_cast<std::size_t>(segment);
    return {blocks.data() + segments[at], segments[at + 1] - segments[at]};
  }
  ResidualBuffers buffers(std::int32_t const* skip = nullptr, std::int32_t const* spent = nullptr) const {
    return {count, z.data(), active, kept.data(), partial.data(), skip, spent};
  }
  void find_scales(Exec const& exec, Scale rule, std::int32_t const* skip, std::uint32_t* message) const {
    scales_from_sums(exec,
                     {.count = static_cast<Index>(ranges.extent(0)),
                      .ranges = ranges.data(),
                      .scales = kept.data(),
                      .errors = errors.data()},
                     buffers(skip), rule);
    place_scales(exec, static_cast<Index>(slots.extent(0)), slots.data(), kept.data(), message);
  }
  /// Replaces z by the residual itself, 0 for masked elements.
  void store_residual(Exec const& exec) const {
    keep_residual(exec, all(), buffers());
    Kokkos::deep_copy(exec, kept, 0.0f);
  }
  /// Zeroes the residuals of all elements, active and masked.
  void forget(Exec const& exec) const {
    Kokkos::deep_copy(exec, z, 0.0f);
    Kokkos::deep_copy(exec, kept, 0.0f);
  }
  void to_host(Exec const& exec) const {
    Kokkos::deep_copy(exec, host_scales, kept);
    Kokkos::deep_copy(exec, host_errors, errors);
  }
  std::int64_t bytes() const {
    return bytes_of(z) + bytes_of(blocks) + bytes_of(ranges) + bytes_of(slots) + bytes_of(partial) + bytes_of(kept) +
           bytes_of(errors);
  }

  Index count;
  std::vector<Index> segments;
  std::uint32_t const* active;
  Vec<float> z;  ///< (count) z of the last call, or the residual where kept is 0
  Vec<WordBlock> blocks;
  Vec<ScaleRange> ranges;
  Vec<ScaleSlot> slots;
  Vec<double> partial;
  Vec<float> kept;  ///< (scales) S or R of the stored z
  Vec<double> errors;
  HostCopy<float> host_scales;
  HostCopy<double> host_errors;
};

}  // namespace

struct CompressedAllreduce::Impl {
  Impl(Communicator& group, Index count, CompressionOptions const& wanted)
      : communicator(group),
        options(wanted),
        identity(group.size() == 1 && !wanted.compress_alone),
        layout(count, group.rank(), group.size(), wanted.scale_groups, wanted.segment_bytes),
        active(buffer<std::uint32_t>("bellwether::comm::active", layout.words)),
        signs(buffer<std::uint32_t>("bellwether::comm::worker_signs", layout.words)),
        worker(count, layout.worker_blocks, layout.worker_ranges, layout.worker_slots, layout.worker_segments,
               active.data()),
        // The identity has no server and keeps nothing for it.
        server(identity ? End(0, {}, {}, {}, {0}, nullptr)
                        : End(layout.mine, layout.server_blocks, layout.server_ranges, layout.server_slots,
                              layout.server_segments, active.data() + layout.first / word_elements)),
        spent(buffer<std::int32_t>("bellwether::comm::spent", 1)) {
    copy_active(last_exec, count, static_cast<std::uint32_t const*>(nullptr), active.data());
    last_exec.fence("bellwether::comm::active, all elements active before a mean on any instance");
    traffic.dense_fp32_bytes =
        DenseMean::predicted_bytes(count, group.rank(), group.size(), Wire::fp32, Allreduce::ordered);
    traffic.dense_16bit_bytes =
        DenseMean::predicted_bytes(count, group.rank(), group.size(), Wire::bf16, Allreduce::ordered);
    requests.resize(static_cast<std::size_t>(layout.segments));
    report.worker_scales.assign(worker.kept.extent(0), 0);
    report.server_scales.assign(server.kept.extent(0), 0);
    if (identity) return;
    for (Index segment = 0; segment < layout.segments; ++segment)
      report.segments.push_back(
          {.elements = layout.segment_elements(segment), .sent = {}, .received = {}, .passed_on = {}, .finished = {}});
    Index const all_words = layout.size * layout.message_words();
    sent = buffer<std::uint32_t>("bellwether::comm::sent_words", all_words);
    received = buffer<std::uint32_t>("bellwether::comm::received_words", all_words);
    mine = buffer<std::uint32_t>("bellwether::comm::server_words", layout.message_words());
    mean_signs = buffer<std::uint32_t>("bellwether::comm::mean_signs", layout.words);
    magnitudes = buffer<float>("bellwether::comm::mean_magnitudes", layout.words);
  }

  std::uint32_t* message() const { return identity ? signs.data() : sent.data(); }
  bool last(Index segment) const { return segment + 1 == layout.segments; }
  Bytes of_all(Vec<std::uint32_t> const& words, Index segment) const {
    return bytes(words.data() + layout.segment_place(segment), layout.size * layout.segment_stride(segment));
  }
  /// Records when each segment was seen to have ended; waits for them in order.
  void wait(Clock::time_point CompressedSegmentTimes::*ended) {
    for (std::size_t segment = 0; segment < requests.size(); ++segment) {
      communicator.wait(requests[segment]);
      report.segments[segment].*ended = Clock::now();
    }
  }
  /// Starts one collective and counts only its bytes: others may be in progress on the same group.
  template <class Start>
  void launch(Index segment, std::int64_t& sent_bytes, Clock::time_point CompressedSegmentTimes::*started,
              Start const& start) {
    Traffic const before = communicator.traffic();
    requests[static_cast<std::size_t>(segment)] = start();
    report.segments[static_cast<std::size_t>(segment)].*started = Clock::now();
    Traffic const now = communicator.traffic();
    sent_bytes += now.sent_bytes - before.sent_bytes;
    traffic.intra_node_bytes += now.intra_node_bytes - before.intra_node_bytes;
  }

  void serve(Exec const& exec) {
    Index const scale_stride = layout.segment_stride(layout.segments - 1);
    for (Index segment = 0; segment < layout.segments; ++segment) {
      Index const stride = layout.segment_stride(segment);
      serve_words(exec, server.slice(segment), server.buffers(skip),
                  {received.data(), stride, scale_stride, layout.size}, mine.data());
      if (last(segment)) server.find_scales(exec, options.scale, skip, mine.data());
      launch(segment, traffic.server_bytes, &CompressedSegmentTimes::passed_on, [&] {
        return communicator.start_allgather(exec, bytes(mine.data() + segment * layout.segment_words, stride),
                                            of_all(sent, segment), "bellwether::comm::compressed_gather");
      });
    }
  }

  /// After an identity mean the buffer holds the mean, not a residual: zeroes it.
  void end_spent(Exec const& exec) const {
    if (identity) clear_spent(exec, worker.count, worker.z.data(), spent.data());
  }

  void finish_report() {
    if (!pending) return;
    pending = false;
    reported.wait(last_exec, reported.marked());
    auto const read = [](End const& end, std::vector<float>& scales, double& squared_norm) {
      std::copy_n(end.host_scales.data(), scales.size(), scales.begin());
      squared_norm = std::accumulate(end.host_errors.data(), end.host_errors.data() + end.host_errors.size(), 0.0);
    };
    read(worker, report.worker_scales, report.worker_error_squared_norm);
    read(server, report.server_scales, report.server_error_squared_norm);
  }

  Communicator& communicator;
  CompressionOptions options;
  bool identity;  ///< one rank that sends values, not signs
  CompressedLayout layout;
  Vec<std::uint32_t> active;  ///< (W)
  Vec<std::uint32_t> signs;   ///< (W) signs of the worker
  End worker;
  End server;
  Vec<std::uint32_t> sent;        ///< (P message_words) to the servers, later from the servers
  Vec<std::uint32_t> received;    ///< (P message_words) this rank's chunk from all workers
  Vec<std::uint32_t> mine;        ///< (message_words) this rank's chunk of the mean
  Vec<std::uint32_t> mean_signs;  ///< (W)
  Vec<float> magnitudes;          ///< (W)
  std::vector<Request> requests;  ///< (segments)
  bool under_way = false;
  Vec<std::int32_t> spent;             ///< (1) not 0: the identity's buffer holds a mean already returned
  std::int32_t const* skip = nullptr;  ///< of the mean in progress
  CompressedTraffic traffic;
  CompressedReport report;
  bool pending = false;
  DeviceProgress reported;
  Exec last_exec;
};

CompressedAllreduce::CompressedAllreduce(Communicator& communicator, Index count, CompressionOptions const& options)
    : impl_(std::make_unique<Impl>(communicator, count, options)) {}

CompressedAllreduce::~CompressedAllreduce() = default;

void CompressedAllreduce::set_active(Exec const& exec, Vec<std::uint32_t> const& words) {
  Impl& mean = *impl_;
  require(!mean.under_way, "set_active() was called during a compressed mean");
  require(static_cast<Index>(words.extent(0)) == mean.layout.words, "the mask must have one bit per element");
  mean.end_spent(exec);
  // First with the old mask, so that newly active elements start without a residual.
  for (End const* const end : {&mean.worker, &mean.server}) end->store_residual(exec);
  copy_active(exec, mean.layout.count, static_cast<std::uint32_t const*>(words.data()), mean.active.data());
  for (End const* const end : {&mean.worker, &mean.server}) end->store_residual(exec);
}

void CompressedAllreduce::begin(Exec const& exec, std::int32_t const* skip) {
  Impl& mean = *impl_;
  require(!mean.under_way, "the previous compressed mean is not finished");
  mean.finish_report();
  mean.last_exec = exec;
  mean.under_way = true;
  mean.traffic.worker_bytes = 0;
  mean.traffic.server_bytes = 0;
  mean.traffic.intra_node_bytes = 0;
  mean.skip = skip;
  if (!mean.options.error_feedback)
    for (End const* const end : {&mean.worker, &mean.server}) end->forget(exec);
}

Index CompressedAllreduce::segments() const { return impl_->layout.segments; }
BlockSlice CompressedAllreduce::slice(Index segment) const { return impl_->worker.slice(segment); }
ResidualBuffers CompressedAllreduce::buffers() const {
  Impl const& mean = *impl_;
  return mean.worker.buffers(mean.skip, mean.identity ? mean.spent.data() : nullptr);
}
std::uint32_t* CompressedAllreduce::message() const { return impl_->message(); }
Vec<std::uint32_t> const& CompressedAllreduce::worker_signs() const { return impl_->signs; }
std::uint32_t const* CompressedAllreduce::active() const { return impl_->active.data(); }

void CompressedAllreduce::send(Exec const& exec, Index segment) {
  Impl& mean = *impl_;
  if (mean.identity) return;
  if (mean.last(segment)) mean.worker.find_scales(exec, mean.options.scale, mean.skip, mean.sent.data());
  mean.launch(segment, mean.traffic.worker_bytes, &CompressedSegmentTimes::sent, [&] {
    return mean.communicator.start_alltoall(exec, mean.of_all(mean.sent, segment), mean.of_all(mean.received, segment),
                                            "bellwether::comm::compressed_scatter");
  });
}

Decoded CompressedAllreduce::finish(Exec const& exec) {
  Impl& mean = *impl_;
  require(mean.under_way, "finish() was called before start()");
  mean.under_way = false;
  mean.last_exec = exec;
  if (mean.identity) {
    mark_spent(exec, buffers(), mean.spent.data());
    return {mean.signs.data(), mean.active.data(), nullptr, mean.worker.z.data()};
  }
  mean.wait(&CompressedSegmentTimes::received);
  if (mean.layout.segments > 0) mean.serve(exec);
  mean.wait(&CompressedSegmentTimes::finished);
  unpack_words(exec, mean.worker.all(), static_cast<std::uint32_t const*>(mean.sent.data()), mean.mean_signs.data(),
               mean.magnitudes.data());
  mean.worker.to_host(exec);
  mean.server.to_host(exec);
  mean.reported.mark(exec);
  mean.pending = true;
  return {mean.mean_signs.data(), mean.active.data(), mean.magnitudes.data(), nullptr};
}

void CompressedAllreduce::visit_state(StateVisitor& visit) {
  Impl& mean = *impl_;
  require(!mean.under_way, "visit_state() was called during a compressed mean");
  Exec const& exec = mean.last_exec;
  mean.end_spent(exec);
  for (End const* const end : {&mean.worker, &mean.server}) end->store_residual(exec);
  // In a group of one, both residuals share a vector. A reader may provide a part for each.
  auto const other = mean.identity ? buffer<float>("bellwether::comm::server_error", mean.layout.count) : mean.server.z;
  exec.fence("bellwether::comm::state, residuals are formed before a visitor reads them");
  visit.array(per_rank("worker_error", Reshard::mean), {mean.worker.z.data(), mean.worker.z.size()});
  visit.array(partitioned("server_error", mean.layout.first, mean.layout.count), {other.data(), other.size()});
  if (!mean.identity) return;
  add_values(exec, mean.layout.count, static_cast<float const*>(other.data()), mean.worker.z.data());
  exec.fence("bellwether::comm::state, the server's part is freed after it was added");
}

void CompressedAllreduce::drop_state(StateVisitor& visit) {
  visit.drop("worker_error");
  visit.drop("server_error");
}

LastMean CompressedAllreduce::last_mean() const {
  Impl const& mean = *impl_;
  Index const group_words = mean.layout.group_words;
  return {.count = mean.layout.count,
          .group_words = group_words,
          .active = mean.active.data(),
          .signs = mean.signs.data(),
          .mean_signs = mean.mean_signs.data(),
          .z = mean.worker.z.data(),
          .scales = mean.worker.kept.data(),
          .first = mean.layout.first,
          .mine = mean.layout.mine,
          .first_group = mean.layout.first / word_elements / group_words,
          .y = mean.server.z.data(),
          .server_scales = mean.server.kept.data()};
}

CompressedTraffic const& CompressedAllreduce::last_traffic() const { return impl_->traffic; }

CompressedReport const& CompressedAllreduce::last_report() const {
  impl_->finish_report();
  return impl_->report;
}

std::int64_t CompressedAllreduce::predicted_bytes(Index count, int size, std::int64_t scale_groups) {
  return size == 1 ? 0 : 8 * (size - 1) * CompressedLayout(count, size, scale_groups).message_words();
}

std::int64_t CompressedAllreduce::predicted_buffer_bytes(Index count, int rank, int size,
                                                         CompressionOptions const& options) {
  bool const identity = size == 1 && !options.compress_alone;
  CompressedLayout const layout(count, rank, size, options.scale_groups, options.segment_bytes);
  auto const words = [](Index number) { return number * static_cast<std::int64_t>(sizeof(std::uint32_t)); };
  auto const end = [&](Index elements, auto const& blocks, auto const& ranges, auto const& slots) {
    return words(elements) +
           static_cast<std::int64_t>(blocks.size() * (sizeof(WordBlock) + sums_of_words * sizeof(double)) +
                                     ranges.size() * (sizeof(ScaleRange) + sizeof(float) + sizeof(double)) +
                                     slots.size() * sizeof(ScaleSlot));
  };
  auto bytes = words(2 * layout.words) + end(count, layout.worker_blocks, layout.worker_ranges, layout.worker_slots);
  if (identity) return bytes;
  bytes += end(layout.mine, layout.server_blocks, layout.server_ranges, layout.server_slots);
  return bytes + words(2 * size * layout.message_words() + layout.message_words() + 2 * layout.words);
}

std::int64_t CompressedAllreduce::buffer_bytes() const {
  Impl const& mean = *impl_;
  return mean.worker.bytes() + mean.server.bytes() + bytes_of(mean.active) + bytes_of(mean.signs) +
         bytes_of(mean.sent) + bytes_of(mean.received) + bytes_of(mean.mine) + bytes_of(mean.mean_signs) +
         bytes_of(mean.magnitudes);
}

}  // namespace bellwether::comm
