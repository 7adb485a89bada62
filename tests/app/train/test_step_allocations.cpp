// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/trainer.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/memory/arena.hpp"
#include "input/threads/io_thread.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/initialise.hpp"
#include "model/optim/optimizer.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"
#include "tests/support/allocation_watch.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <impl/Kokkos_Profiling.hpp>

#include <string_view>
#include <tuple>

using namespace bellwether;

namespace {

// 1-bit methods freeze before their second step; in the third, the memory for the second step's notices is released.
constexpr int first_watched = 4, last_step = 11;

model::ModelConfig small_model() {
  return {.vocabulary = 100, .hidden = 64, .layers = 2, .heads = 2, .feed_forward = 256, .positions = 16};
}

/// Excuses labels, which Kokkos takes as strings; they are released by the end of the step.
void check_none(test::Allocations const& seen, std::int64_t freed_unseen = 0) {
  INFO(seen.report);
  CHECK(seen.host == 0);
  CHECK(seen.views == 0);
  CHECK(seen.retained == freed_unseen);
}

/// Excuses the training thread inside the region in which it takes its batch from the stream.
class BatchExcuse {
 public:
  BatchExcuse() {
    regions = 0;
    Kokkos::Tools::Experimental::set_push_region_callback([](char const* name) {
      inside = inside > 0 || name == std::string_view("bellwether::app::next_batch") ? inside + 1 : 0;
      if (inside == 1) ++regions;
      test::excuse_this_thread(inside > 0);
    });
    Kokkos::Tools::Experimental::set_pop_region_callback([] {
      inside = std::max(0, inside - 1);
      test::excuse_this_thread(inside > 0);
    });
  }
  ~BatchExcuse() {
    Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
    Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  }
  static inline int regions = 0;

 private:
  static inline int inside = 0;
};

}  // namespace

TEST_CASE("micro-batches and optimizer steps allocate nothing after the first one") {
  auto& ranks = test::world().communicator();
  optim::OptimizerConfig settings;
  using optim::Exchange, optim::Method, optim::Steer;
  auto const [method, exchange, steer] = GENERATE(std::tuple{Method::lamb, Exchange::gradient, Steer::norm},
                                                  std::tuple{Method::adamw, Exchange::gradient, Steer::norm},
                                                  std::tuple{Method::onebit_lamb, Exchange::gradient, Steer::norm},
                                                  std::tuple{Method::onebit_lamb, Exchange::momentum, Steer::norm},
                                                  std::tuple{Method::onebit_lamb, Exchange::momentum, Steer::variance},
                                                  std::tuple{Method::onebit_adam, Exchange::gradient, Steer::norm},
                                                  std::tuple{Method::onebit_adam, Exchange::momentum, Steer::norm},
                                                  std::tuple{Method::onebit_sgd, Exchange::gradient, Steer::norm});
  settings.method = method;
  settings.exchange = exchange;
  settings.steer = steer;
  settings.freeze.step = 1;  // the compressed phase begins with the second step and allocates its memory there
  comm::CommConfig wire;
  wire.dense_wire = GENERATE(comm::Wire::fp32, comm::Wire::bf16);
  wire.dense_segment = 20000;  // of 110,000 elements
  auto const config = small_model();
  Exec const exec;
  model::Bert<float> bert(exec, config, {.sequences = 4, .longest = 16, .masked = 3}, 7);
  auto const& table = bert.layout().table;
  Arena<> parameters(table, "bellwether::test::parameters"), gradients(table, "bellwether::test::gradients");
  model::initialise(exec, table, 3, config.initial_deviation, parameters.data());
  auto const optimizer = optim::make_optimizer(settings, {table, {ranks}, exec, wire});
  std::vector<model::Batch> batches;
  for (auto const& lengths : {std::vector{16, 3, 7, 1}, {2, 9}, {16, 16, 16, 16}})
    batches.push_back(tests::random_batch(config, lengths, 3, static_cast<std::uint64_t>(1 + ranks.rank())));

  bool skipped = false;
  test::AllocationWatch watch;
  for (int step = 1; step <= last_step; ++step) {
    if (step == first_watched) watch.arm();
    Kokkos::deep_copy(exec, gradients.flat(), 0.0f);
    bert.set_parameters(parameters.data());
    for (auto const& batch : batches)
      bert.train(gradients.data(), batch, {.mlm = 0.1, .nsp = 0.1}, [&](Index first, Index last) {
        if (&batch == &batches.back()) optimizer->gradient_ready(exec, gradients, {first, last});
      });
    optimizer->step(exec, parameters, gradients, {.step = step, .learning_rate = 0.001, .layers = step % 2 == 0});
    exec.fence("bellwether::test::step");
    skipped |= optimizer->last_report().skipped;
  }
  check_none(watch.disarm());
  CHECK_FALSE(skipped);
}

// Samples have many lengths and are read in windows that are allocated and released. Two things are therefore not
// watched: the I/O thread, which reads ahead, and the training thread inside the region bellwether::app::next_batch,
// where it distributes samples to micro-batches. Everything else of the step is watched on every thread: forward,
// backward, reductions, exchange, optimizer, and the row of statistics.
TEST_CASE("a step of the trainer allocates only its batch after the first one") {
  auto& world = test::world();
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, 64);
  input::Deck deck;
  deck.data.train = {folder / "a.h5"};
  deck.data.dynamic_masking = false;
  deck.model = small_model();
  deck.batch = {.global = 18, .micro = 4};
  deck.optimizer.method = GENERATE(optim::Method::lamb, optim::Method::adamw, optim::Method::onebit_lamb);
  deck.optimizer.freeze.step = 1;
  deck.statistics.layers_every = 3;
  deck.schedule.steps = last_step;
  auto const host_ahead = GENERATE(app::HostAhead::where_free, app::HostAhead::always);
  bool const ahead = host_ahead == app::HostAhead::always;
  // With MPI, the sums of a step would start beside exchanges of the next one: one more request at a time than before.
  if (ahead && world.size() > 1) return;
  if (ahead) deck.batch.micro = deck.batch.global;  // one rank with several micro-batches does not use the step-ahead
  input::IoThread io;
  app::Trainer trainer(deck, world, io, host_ahead);
  io.run(input::IoThread::Priority::read_ahead, [] { test::excuse_this_thread(true); });

  app::StepRow row;
  test::AllocationWatch watch;
  {
    BatchExcuse const excuse;
    for (int step = 1; step <= last_step; ++step) {
      if (step == first_watched) watch.arm();
      trainer.advance(app::StopReason::none, row, ahead && step < last_step);
    }
    // The region's name is allocated before the region begins and released inside it. The last batch was fetched ahead.
    check_none(watch.disarm(), last_step - first_watched + (ahead ? 0 : 1));
    CHECK(excuse.regions == last_step + 1);  // each step fetches the batch of the next one
  }
  CHECK(trainer.step() == last_step);
}
