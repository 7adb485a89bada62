// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_checkpoint.hpp"

#include "app/bench/bench_folder.hpp"
#include "app/checkpoint/checkpoint.hpp"
#include "app/checkpoint/checkpoint_entries.hpp"
#include "app/checkpoint/device_copy.hpp"
#include "comm/transport/rank_group.hpp"
#include "comm/transport/world.hpp"
#include "input/threads/io_thread.hpp"
#include "model/layout/bert_layout.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace bellwether::app {
namespace {

/// The state that training saves, with random values. The first `alike` vectors are equal on all ranks.
class BenchState {
 public:
  BenchState(model::ModelConfig const& model, std::int64_t sequence_length, int rank)
      : layout_(model::bert_layout(model, sequence_length)) {
    auto const count = static_cast<std::size_t>(layout_.table.count());
    std::vector<float> values(count);
    for (std::size_t i = 0; i < vectors_.size(); ++i) {
      std::minstd_rand random(static_cast<std::uint_fast32_t>(1 + i + (i < alike ? 0 : 100 * (1 + rank))));
      for (auto& value : values) value = static_cast<float>(random()) * 0x1p-31F;
      vectors_[i] = DeviceBuffer(count);
      copy_to_device(values, vectors_[i].values());
    }
  }

  TrainingState state() {
    return {.layout = layout_.table, .parameters = vectors_[0].values(), .optimizer = [this](StateVisitor& visit) {
              visit.array(replicated("momentum"), vectors_[1].values());
              visit.array(replicated("variance"), vectors_[2].values());
              visit.array(per_rank("worker_error", Reshard::mean), vectors_[3].values());
              visit.array(per_rank("mean_residual", Reshard::mean), vectors_[4].values());
            }};
  }
  std::vector<std::uint64_t> fingerprints() const {
    std::vector<std::uint64_t> all;
    for (auto const& vector : vectors_) all.push_back(fingerprint_of(vector.values()).sum);
    return all;
  }
  std::vector<std::span<float const>> vectors() const {
    std::vector<std::span<float const>> all;
    for (auto const& vector : vectors_) all.push_back(vector.values());
    return all;
  }
  void clear() {
    std::vector<float> const zeros(vectors_[0].values().size());
    for (auto const& vector : vectors_) copy_to_device(zeros, vector.values());
  }
  std::int64_t count() const { return layout_.table.count(); }

 private:
  static constexpr std::size_t alike = 3;
  model::BertLayout layout_;
  std::array<DeviceBuffer, 5> vectors_;
};

/// The baseline: copies as many bytes as a rank writes out of the checkpointed vectors, with the function that
/// checkpoints use.
class PlainCopy {
 public:
  PlainCopy(std::vector<std::span<float const>> vectors, std::int64_t bytes)
      : vectors_(std::move(vectors)), memory_(static_cast<std::size_t>(bytes) / sizeof(float)) {}

  /// Collective. Returns the seconds of this rank while all ranks copy.
  double seconds(comm::RankGroup& group) {
    group.barrier("bellwether::app::bench_copy");
    auto const start = Clock::now();
    auto left = memory_.values();
    for (auto const vector : vectors_) {
      auto const count = std::min(left.size(), vector.size());
      copy_from_device(vector.first(count), left.first(count));
      left = left.subspan(count);
    }
    return seconds_since(start);
  }

 private:
  std::vector<std::span<float const>> vectors_;
  HostBuffer memory_;
};

CheckpointResult measure(comm::RankGroup& group, CheckpointBench const& bench, std::string const& folder,
                         BenchState& owner, bool asynchronous) {
  CheckpointResult result{.asynchronous = asynchronous};
  input::IoThread io;
  Checkpoints checkpoints(folder + (asynchronous ? "/copied" : "/waited"), {.keep = 1, .asynchronous = asynchronous},
                          group, io, {.warn = [](std::string const&) {}});
  auto const state = owner.state();
  checkpoints.reserve(state);
  PlainCopy copy(owner.vectors(), checkpoint_bytes(state, group.rank(), group.size()));
  std::vector<double> still, complete, copied;
  for (int call = 0; call < bench.warmup + bench.calls; ++call) {
    double const plain = copy.seconds(group);
    group.barrier("bellwether::app::bench_checkpoint");
    auto const start = Clock::now();
    checkpoints.save(1 + call, "", state);
    double const saved = seconds_since(start);
    group.barrier("bellwether::app::bench_saved");  // the next training step would wait here, too
    checkpoints.wait();
    auto const slowest = largest_over_ranks(group, {saved, seconds_since(start), plain});
    if (call < bench.warmup) continue;
    still.push_back(slowest[0]);
    complete.push_back(slowest[1]);
    copied.push_back(slowest[2]);
  }
  result.stands_still = timing_of(still);
  result.complete = timing_of(complete);
  result.copy = timing_of(copied);

  auto const before = owner.fingerprints();
  owner.clear();
  auto const found = checkpoints.find_latest();
  if (found) checkpoints.load(*found, state);
  bool const same = found && found->step == bench.warmup + bench.calls && owner.fingerprints() == before;
  result.checks.push_back({"read back bit for bit", holds_everywhere(group, same)});
  return result;
}

}  // namespace

CheckpointBenchResult bench_checkpoint(comm::World& world, CheckpointBench const& bench) {
  auto& group = world.group();
  BenchFolder const folder(group, bench.directory);
  BenchState owner(bench.model, bench.sequence_length, group.rank());
  CheckpointBenchResult result{.parameters = owner.count(), .results = {}};
  auto const mine = checkpoint_bytes(owner.state(), group.rank(), group.size());
  std::array<double, 2> bytes{static_cast<double>(mine), group.rank() == 0 ? static_cast<double>(mine) : 0};
  group.sum_host(bytes, "bellwether::app::bench_checkpoint_bytes");
  result.bytes = static_cast<std::int64_t>(bytes[0]);
  result.root_bytes = static_cast<std::int64_t>(bytes[1]);
  for (bool const asynchronous : {true, false})
    result.results.push_back(measure(group, bench, folder.path(), owner, asynchronous));
  group.barrier("bellwether::app::bench_checkpoint_read");
  return result;
}

}  // namespace bellwether::app
