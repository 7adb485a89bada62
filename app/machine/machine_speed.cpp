// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/machine/machine_speed.hpp"

#include "app/machine/host_memory.hpp"
#include "app/machine/timing.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/device/launch.hpp"
#include "core/device/team_sum.hpp"
#include "core/memory/arena.hpp"
#include "core/random/random.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/flops.hpp"
#include "model/bert/initialise.hpp"

#include <algorithm>
#include <vector>

namespace bellwether::app {

model::Batch random_batch(MicroBatchShape const& shape, int rank) {
  model::Batch batch;
  RandomStream random(1, Purpose::pairs, static_cast<std::uint64_t>(rank));
  auto const any_token = [&] {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(shape.model.vocabulary)));
  };
  batch.sequence_offsets.push_back(0);
  for (std::int64_t b = 0; b < shape.sequences; ++b) {
    auto const first = static_cast<std::int32_t>(b * shape.length);
    for (std::int64_t i = 0; i < shape.length; ++i) {
      batch.token_ids.push_back(any_token());
      batch.segment_ids.push_back(i > shape.length / 2);
    }
    for (std::int64_t i = 0; i < shape.masked; ++i) {
      batch.masked_rows.push_back(first + static_cast<std::int32_t>(1 + i * (shape.length - 1) / shape.masked));
      batch.masked_labels.push_back(any_token());
    }
    batch.sequence_offsets.push_back(first + static_cast<std::int32_t>(shape.length));
    batch.next_labels.push_back(static_cast<std::int32_t>(random.below(2)));
    batch.samples.push_back(rank * shape.sequences + b);
  }
  return batch;
}

double measured_pass_speed(comm::World& world, MicroBatchShape const& shape) {
  constexpr double enough = 2;  // seconds
  auto config = shape.model;
  config.compute = shape.type;
  auto& ranks = world.communicator();
  Exec const exec;
  auto const batch = random_batch(shape, world.rank());
  model::Bert<float> bert(exec, config, {.sequences = shape.sequences, .longest = shape.length, .masked = shape.masked},
                          1, [&](Index count, std::int64_t bytes) {
                            if constexpr (!on_devices) require_host_memory(world, count, bytes);
                          });
  auto const& table = bert.layout().table;
  Arena<> parameters(table, "bellwether::app::parameters"), gradients(table, "bellwether::app::gradients");
  model::initialise(exec, table, 1, config.initial_deviation, parameters.data());
  bert.set_parameters(parameters.data());
  model::LossScale const scale{.mlm = 1 / static_cast<double>(std::max<Index>(1, batch.masked())),
                               .nsp = 1 / static_cast<double>(batch.sequences())};
  double spent = 0;
  std::vector<double> passes;
  for (int i = 0; i < 6 && (passes.empty() || spent < enough); ++i) {
    ranks.barrier("bellwether::app::pass_speed");
    auto const start = Clock::now();
    Kokkos::deep_copy(exec, gradients.flat(), 0.0f);
    bert.train(gradients.data(), batch, scale, [](Index, Index) {});
    bert.store_losses();
    static_cast<void>(bert.stored_losses());  // waits
    double const seconds = largest_over_ranks(ranks, {seconds_since(start)})[0];
    // The first pass also touches its memory for the first time, which distorts the time of a short pass.
    if (i > 0 || seconds > enough) passes.push_back(seconds);
    spent += seconds;
  }
  return model::training_flops(shape.model, batch) / timing_of(passes).median;
}

struct Triad::Vectors {
  static constexpr Index count = Index{1} << 24, block = 4096;
  Exec exec;
  Vec<float> a{"bellwether::app::triad_a", count}, b{"bellwether::app::triad_b", count},
      c{"bellwether::app::triad_c", count};
};

Triad::Triad(comm::Communicator& ranks) : ranks_(ranks), vectors_(std::make_unique<Vectors>()) { pass(); }

Triad::~Triad() = default;

double Triad::pass() {
  constexpr Index block = Vectors::block;
  float* const to = vectors_->a.data();
  float const* const first = vectors_->b.data();
  float const* const second = vectors_->c.data();
  Exec const& exec = vectors_->exec;
  exec.fence("bellwether::app::bench_triad, before a pass");
  ranks_.barrier("bellwether::app::bench_triad");
  auto const start = Clock::now();
  launch<"bellwether::app::bench_triad">(
      team_policy(exec, Vectors::count / block), KOKKOS_LAMBDA(Kokkos::TeamPolicy<Exec>::member_type const& team) {
        Index const begin = team.league_rank() * block;
        team_for<Exec>(team, begin, begin + block, [=](Index k) { to[k] = first[k] + 3.0f * second[k]; });
      });
  exec.fence("bellwether::app::bench_triad, after a pass");
  return seconds_since(start) / (12.0 * Vectors::count);
}

double measured_memory_speed(comm::World& world) {
  Triad triad(world.communicator());
  std::vector<double> seconds;
  for (int pass = 0; pass < 9; ++pass) seconds.push_back(triad.pass());
  return 1 / largest_over_ranks(world.communicator(), {timing_of(seconds).median})[0];
}

}  // namespace bellwether::app
