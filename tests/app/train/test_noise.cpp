// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/trainer.hpp"
#include "app/train/training_data.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/world.hpp"
#include "core/memory/arena.hpp"
#include "input/shards/batch_stream.hpp"
#include "input/threads/io_thread.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/initialise.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <cmath>

using namespace bellwether;
using Catch::Matchers::WithinRel;

namespace {

input::Deck small_deck(TemporaryFolder const& folder, optim::Method method) {
  write_shard(folder / "a.h5", small_format(true), 0, 64);
  input::Deck deck;
  deck.data.train = {folder / "a.h5"};
  deck.data.dynamic_masking = false;
  deck.model = {.vocabulary = 100, .hidden = 64, .layers = 1, .heads = 2, .feed_forward = 128, .positions = 16};
  deck.batch = {.global = 13, .micro = 4};
  deck.optimizer.method = method;
  deck.optimizer.clip = 0.01;  // norms are taken before clipping
  deck.schedule.steps = 8;
  return deck;
}

struct Squares {
  double local = 0, mean = 0, first_pass = 0;
};

double squared_norm(std::vector<float> const& g) {
  double sum = 0;
  for (float const value : g) sum += static_cast<double>(value) * value;
  return sum;
}

/// Returns the expected first row: the model's forward and backward passes over the same batch, summed on the host.
Squares first_step(input::Deck const& deck, comm::World& world, input::IoThread& io) {
  auto data = app::open_training_data(deck, comm::ProcessGrid(deck.comm, world), io);
  Exec const exec;
  auto const seed = static_cast<std::uint64_t>(deck.run.seed);
  model::Bert<float> bert(exec, deck.model, data.capacity(deck.batch, world.size()), seed);
  auto const& table = bert.layout().table;
  Arena<> parameters(table, "bellwether::test::parameters"), gradients(table, "bellwether::test::gradients");
  model::initialise(exec, table, seed, deck.model.initial_deviation, parameters.data());
  auto const batch = data.stream->next();
  double const P = world.size();
  model::LossScale const scale{.mlm = P / static_cast<double>(batch.global_masked),
                               .nsp = P / static_cast<double>(batch.global_sequences)};
  auto const download = [&] {
    std::vector<float> host(static_cast<std::size_t>(gradients.count()));
    exec.fence("bellwether::test::gradients");
    Kokkos::deep_copy(Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()),
                      gradients.flat());
    return host;
  };
  Squares squares;
  bert.set_parameters(parameters.data());
  for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
    bert.train(gradients.data(), batch.micro_batches[i], scale, [](Index, Index) {});
    if (i == 0) squares.first_pass = squared_norm(download());
  }
  auto const mine = download();
  std::vector<double> sums(mine.begin(), mine.end());
  sums.push_back(squared_norm(mine));
  world.communicator().sum_host(sums, "bellwether::test::gradients");
  squares.local = sums.back() / P;
  sums.pop_back();
  for (double const sum : sums) squares.mean += sum / P * sum / P;
  return squares;
}

}  // namespace

TEST_CASE("a step's row holds the squared norms of the ranks' gradients and of their mean") {
  auto& world = test::world();
  TemporaryFolder const folder;
  auto const deck = small_deck(folder, GENERATE(optim::Method::lamb, optim::Method::onebit_adam));
  input::IoThread io;
  auto const expected = first_step(deck, world, io);
  app::Trainer trainer(deck, world, io);
  app::StepRow row;
  trainer.advance(app::StopReason::none, row);
  CHECK_THAT(row.mean_square, WithinRel(expected.mean, 1e-5));
  CHECK_THAT(row.local_square, WithinRel(world.size() > 1 ? expected.local : expected.first_pass, 1e-5));
  CHECK(row.noise_trace > 0);
  if (world.size() == 2) {  // 7 and 6 of 13 sequences
    double const a = 2.0 * (49 + 36) / 169;
    double const trace = 13 * (expected.local - a * expected.mean) / (2 - a);
    CHECK_THAT(row.noise_trace, WithinRel(trace, 1e-3));
    CHECK_THAT(row.noise_signal, WithinRel(expected.mean - trace / 13, 1e-3));
  }
  if (row.noise_signal > 0)
    CHECK_THAT(row.noise_scale, WithinRel(row.noise_trace / row.noise_signal, 1e-12));
  else
    CHECK(std::isnan(row.noise_scale));
  CHECK(std::isnan(row.critical_batch));  // unknown before 1 / (1 - beta) steps
}

TEST_CASE("compressed steps record both squares, or NaN") {
  auto& world = test::world();
  TemporaryFolder const folder;
  auto deck = small_deck(folder, optim::Method::onebit_lamb);
  deck.optimizer.freeze.step = 2;
  deck.statistics.noise_beta = 0.5;
  deck.optimizer.clip_norm = GENERATE(optim::CompressedClip::sketch, optim::CompressedClip::local_rms);
  bool const folds = deck.optimizer.clip_norm == optim::CompressedClip::sketch || world.size() == 1;
  input::IoThread io;
  app::Trainer trainer(deck, world, io);
  app::StepRow row;
  for (int step = 1; step <= 6; ++step) {
    trainer.advance(app::StopReason::none, row);
    CHECK(std::isfinite(row.local_square));
    CHECK(std::isfinite(row.mean_square) == (step <= 2 || folds));
    if (std::isfinite(row.mean_square)) CHECK_THAT(std::sqrt(row.mean_square), WithinRel(row.gradient_norm, 1e-9));
  }
}

TEST_CASE("one rank with one micro-batch per step has no noise scale") {
  auto& world = test::world();
  if (world.size() > 1) return;
  TemporaryFolder const folder;
  auto deck = small_deck(folder, GENERATE(optim::Method::lamb, optim::Method::onebit_sgd));
  deck.optimizer.freeze.step = 2;
  if (deck.optimizer.method == optim::Method::lamb) deck.optimizer.freeze = {};
  deck.batch.micro = 13;
  deck.statistics.noise_beta = 0;
  input::IoThread io;
  app::Trainer trainer(deck, world, io);
  app::StepRow row;
  for (int step = 1; step <= 4; ++step) {
    trainer.advance(app::StopReason::none, row);
    for (double const value :
         {row.local_square, row.noise_signal, row.noise_trace, row.noise_scale, row.critical_batch})
      CHECK(std::isnan(value));
    CHECK(std::isfinite(row.mean_square));
  }
}
