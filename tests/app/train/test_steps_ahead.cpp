// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint.hpp"
#include "app/train/trainer.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"
#include "tests/support/memory_state.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <bit>
#include <map>
#include <tuple>

// Step-ahead: micro-batches of a step may be enqueued before the host knows the outcome of the previous step. Whatever
// that outcome is, all results are the same as without the step-ahead.

using namespace bellwether;
using app::HostAhead, app::StopReason;

namespace {

constexpr std::int64_t rows = 64, batch = 13;

input::Deck small_deck(TemporaryFolder const& folder, optim::Method method) {
  input::Deck deck;
  deck.data.train = {folder / "a.h5"};
  deck.data.dynamic_masking = false;
  deck.data.window = 16;
  deck.model = {.vocabulary = 100, .hidden = 64, .layers = 1, .heads = 2, .feed_forward = 128, .positions = 16};
  deck.batch = {.global = batch, .micro = batch};
  deck.comm.share_device = true;  // if there is a device
  deck.optimizer.method = method;
  if (optim::compresses(method)) deck.optimizer.freeze.step = 4;
  deck.statistics.layers_every = 2;
  deck.schedule.steps = 12;
  return deck;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// All results of a step except times; floats as their bits.
struct Facts {
  std::map<std::string, std::uint64_t> row;
  std::vector<std::uint32_t> layers;
  double flops = 0;
  StopReason stop = StopReason::none;
  std::int64_t skipped_in_a_row = 0;
  std::string skipped_because;
  // Set only if no micro-batch of the next step is enqueued.
  std::map<std::string, std::vector<std::uint32_t>> arrays;
  std::map<std::string, std::uint64_t> numbers;

  bool operator==(Facts const&) const = default;
};

class Training {
 public:
  Training(input::Deck const& deck, HostAhead host_ahead)
      : goes_ahead_(host_ahead == HostAhead::always), trainer_(deck, test::world(), io_, host_ahead) {}

  /// goes_on: as in Trainer::advance(); ignored without the step-ahead. The facts include the state unless the next
  /// step is already enqueued.
  Facts advance(bool goes_on, StopReason wish = StopReason::none) {
    app::StepRow row;
    auto const outcome = trainer_.advance(wish, row, goes_on && goes_ahead_);
    data_fault = outcome.data_fault;
    Facts facts;
    facts.flops = outcome.flops;
    facts.stop = outcome.stop;
    facts.skipped_in_a_row = outcome.skipped_in_a_row;
    facts.skipped_because = outcome.skipped_because;
    app::StepRow::describe(row, [&](std::string const& name, char const*, auto value) {
      if (!name.starts_with("wait_") && !name.ends_with("_seconds") && name != "tokens_per_second")
        facts.row[name] = bits(static_cast<double>(value));
    });
    if (outcome.layers)
      for (auto const& quantity : trainer_.layer_values())
        for (float const value : quantity) facts.layers.push_back(bits(value));
    bool const settled = !goes_on || outcome.stop != StopReason::none || row.skipped != 0 || !data_fault.empty();
    if (goes_ahead_) CHECK(is_ahead() == !settled);
    if (settled) add_state(facts);
    return facts;
  }
  std::int64_t count(std::string const& name) {
    Facts facts;
    add_state(facts);
    return static_cast<std::int64_t>(facts.numbers.at(name));
  }

  std::string data_fault;  // of the last step

 private:
  /// Returns true if micro-batches of the next step are enqueued: then there is no state to compare.
  bool is_ahead() {
    try {
      static_cast<void>(trainer_.state());
      return false;
    } catch (InternalError const&) {
      return true;
    }
  }
  void add_state(Facts& facts) {
    test::MemoryState kept;
    auto const state = trainer_.state();
    kept.array(replicated("parameters"), state.parameters);
    state.optimizer(kept);
    state.data(kept);
    for (auto const& [name, values] : kept.arrays)
      for (float const value : values) facts.arrays[name].push_back(bits(value));
    for (auto const& [name, value] : kept.integers) facts.numbers[name] = static_cast<std::uint64_t>(value);
    for (auto const& [name, value] : kept.reals)
      if (name != "wall_seconds") facts.numbers[name] = bits(value);
  }

  bool goes_ahead_;
  input::IoThread io_;
  app::Trainer trainer_;
};

/// Runs both trainings one after the other: they use the same communicator, and HDF5 does not support several threads.
template <class Advance>
void check_same(input::Deck const& deck, int steps, Advance const& advance) {
  std::vector<Facts> expected;
  {
    Training plain(deck, HostAhead::where_free);
    for (int step = 1; step <= steps; ++step) expected.push_back(advance(plain, step));
  }
  Training ahead(deck, HostAhead::always);
  for (int step = 1; step <= steps; ++step) {
    CAPTURE(step);
    auto const& wanted = expected[static_cast<std::size_t>(step - 1)];
    auto const told = advance(ahead, step);
    CHECK(told.row == wanted.row);
    CHECK(told.skipped_because == wanted.skipped_because);
    bool const same = told == wanted;  // too much to print
    CHECK(same);
  }
}

}  // namespace

TEST_CASE("micro-batches enqueued ahead change no bit of later steps") {
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, rows);
  using optim::Exchange, optim::Method;
  // With a batch of two sequences, one of three ranks has no micro-batch.
  auto const [method, exchange, global] = GENERATE(std::tuple{Method::lamb, Exchange::gradient, batch},
                                                   std::tuple{Method::lamb, Exchange::gradient, std::int64_t{2}},
                                                   std::tuple{Method::adamw, Exchange::gradient, batch},
                                                   std::tuple{Method::onebit_lamb, Exchange::gradient, batch},
                                                   std::tuple{Method::onebit_lamb, Exchange::momentum, batch},
                                                   std::tuple{Method::onebit_sgd, Exchange::gradient, batch});
  auto deck = small_deck(folder, method);
  deck.optimizer.exchange = exchange;
  deck.batch.global = global;
  deck.comm.dense_segment = 20000;  // of 90,000 elements
  check_same(deck, 12, [](Training& training, int step) {
    bool const looks = step == 3 || step == 6 || step == 12;  // as for evaluations and checkpoints
    // A rank asks to stop, but training continues.
    return training.advance(!looks, step == 5 || step == 9 ? StopReason::signal : StopReason::none);
  });
}

TEST_CASE("micro-batches enqueued ahead of a skipped step are enqueued again") {
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, rows);
  auto const [method, global] =
      GENERATE(std::tuple{optim::Method::lamb, batch}, std::tuple{optim::Method::lamb, std::int64_t{2}},
               std::tuple{optim::Method::onebit_lamb, batch});
  auto deck = small_deck(folder, method);
  deck.batch.global = global;
  if (deck.optimizer.freeze.step) deck.optimizer.freeze.step = 2;
  deck.optimizer.lr = 1e30;  // all values after such a step are non-finite
  int skipped = 0;
  check_same(deck, 6, [&](Training& training, int) {
    auto facts = training.advance(true);
    skipped += facts.skipped_because.empty() ? 0 : 1;
    return facts;
  });
  CHECK(skipped >= 6);  // in both runs together
}

TEST_CASE("unreadable samples end a run before their step, and only completed steps count") {
  TemporaryFolder const folder;
  auto const format = small_format(true);
  input::ShardWriter writer(folder / "a.h5", format, 8);
  for (std::int64_t r = 0; r < rows; ++r) {
    auto sample = sample_of(r, format);
    if (r == 40) sample.token_ids[3] = static_cast<std::int32_t>(format.vocabulary);
    writer.append(sample);
  }
  writer.close();
  auto deck = small_deck(folder, optim::Method::adamw);
  // Returns the number of steps before the fault is reported; 0 if the first batch has it. Steps that were not made
  // must not count.
  auto const made_by = [&](HostAhead host_ahead) {
    Training training(deck, host_ahead);
    std::int64_t made = 0;
    try {
      for (; training.data_fault.empty() && made < rows / batch; ++made) training.advance(true);
    } catch (InputError const&) {
      return made;
    }
    CHECK(training.data_fault.find("row 40") != std::string::npos);
    CHECK(training.count("sample") == batch * made);
    CHECK(training.count("step") == made);
    return made;
  };
  std::int64_t plain = 0;
  for (deck.run.seed = 1; deck.run.seed < 50 && plain < 2; ++deck.run.seed) plain = made_by(HostAhead::where_free);
  --deck.run.seed;
  REQUIRE(plain >= 2);
  CHECK(made_by(HostAhead::always) == plain);
}
