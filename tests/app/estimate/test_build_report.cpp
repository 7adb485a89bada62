// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/build_report.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/session.hpp"
#include "app/train/trainer.hpp"
#include "comm/collective/dense_mean.hpp"
#include "comm/compression/tensor_errors.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>

#include <impl/Kokkos_Profiling.hpp>

#include <string_view>

using namespace bellwether;

namespace {

std::int64_t allocated_bytes = 0;

/// While it exists, counts the bytes that Kokkos allocates in the memory space of training.
class AllocationCounter {
 public:
  AllocationCounter() {
    allocated_bytes = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Profiling::SpaceHandle space, char const*, void const*, std::uint64_t size) {
          if (counts(space)) allocated_bytes += static_cast<std::int64_t>(size);
        });
    Kokkos::Tools::Experimental::set_deallocate_data_callback(
        [](Kokkos::Profiling::SpaceHandle space, char const*, void const*, std::uint64_t size) {
          if (counts(space)) allocated_bytes -= static_cast<std::int64_t>(size);
        });
  }
  ~AllocationCounter() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }

 private:
  static bool counts(Kokkos::Profiling::SpaceHandle const& space) {
    return std::string_view(space.name) == Mem::name();
  }
};

struct Size {
  std::int64_t hidden, layers, heads, global, micro;
};

/// Returns the deck of a tiny model for the shards of tests, trained on `train`.
input::Deck small_deck(std::string const& train) {
  input::Deck deck;
  deck.data.train = {train};
  deck.model = {.vocabulary = 100, .hidden = 16, .layers = 1, .heads = 2, .feed_forward = 32, .positions = 16};
  deck.batch = {.global = 8, .micro = 8};
  deck.schedule.steps = 2;
  return deck;
}

std::vector<std::string> faults_of(input::Deck const& deck) {
  try {
    app::build_report(deck, test::world());
  } catch (app::CommonError const& error) {
    return error.faults();
  }
  return {};
}

}  // namespace

TEST_CASE("Training uses the bytes and memory that check predicts") {
  auto& world = test::world();
  TemporaryFolder const folder;  // each rank has its own, with the same shard
  write_shard(folder / "a.h5", small_format(true), 0, 64);
  for (Size const& size : {Size{64, 2, 2, 16, 16}, Size{96, 3, 4, 32, 4}, Size{128, 1, 2, 7, 2}})
    for (auto const method : {optim::Method::lamb, optim::Method::adamw, optim::Method::onebit_lamb}) {
      input::Deck deck;
      deck.data.train = {folder / "a.h5"};
      deck.data.dynamic_masking = false;
      deck.model.vocabulary = 100;
      deck.model.hidden = size.hidden;
      deck.model.layers = size.layers;
      deck.model.heads = size.heads;
      deck.model.feed_forward = 4 * size.hidden;
      deck.model.positions = 16;
      deck.batch = {size.global, size.micro};
      deck.optimizer.method = method;
      if (method == optim::Method::onebit_lamb) deck.optimizer.freeze.step = 2;
      deck.schedule.steps = 3;
      auto const report = app::build_report(deck, world);

      AllocationCounter const counter;
      input::IoThread io;
      app::Trainer trainer(deck, world, io);
      app::StepRow row;
      for (int step = 0; step < 3; ++step) {
        auto const outcome = trainer.advance(app::StopReason::none, row);
        // Around the freeze, steps also send a few numbers per layer for the statistics.
        auto const numbers = comm::tensor_error_sums * static_cast<Index>(trainer.layout().tensors().size());
        comm::Traffic recorded;
        if (row.phase == 1 && outcome.layers)
          recorded = comm::DenseMean::predicted_traffic(world.communicator(), numbers, comm::Wire::fp32,
                                                        comm::Allreduce::ordered);
        auto const& told = row.phase == 0 ? report.dense_step : report.compressed_step;
        REQUIRE(told.has_value());
        CHECK(row.sent_bytes - recorded.sent_bytes == told->mine.sent_bytes);
        CHECK(row.intra_node_bytes - recorded.intra_node_bytes == told->mine.intra_node_bytes);
      }
      CHECK(row.phase == (method == optim::Method::onebit_lamb ? 1 : 0));
      auto const& totals = trainer.traffic();
      bool const compresses = method == optim::Method::onebit_lamb;
      CHECK((totals.dense.steps == (compresses ? 2 : 3) && totals.compressed.steps == (compresses ? 1 : 0)));
      CHECK(totals.dense.sent_bytes == totals.dense.steps * report.dense_step->mine.sent_bytes);
      CHECK(totals.dense.dense_bytes_16bit == totals.dense.steps * report.dense_step->mine.dense_bytes_16bit);
      auto const text = app::report_text(report, deck);
      bool const apart = compresses && world.size() > 1;
      CHECK((text.find("servers, all-gather") != std::string::npos) == apart);
      CHECK((text.find("dense mean in 16 bit") != std::string::npos) == apart);
      if (apart) {
        auto const& told = report.compressed_step->mine;
        CHECK(totals.compressed.worker_bytes == told.worker_bytes);
        CHECK(totals.compressed.server_bytes == told.server_bytes);
        CHECK(totals.compressed.dense_bytes_fp32 == told.dense_bytes_fp32);
        CHECK(text.find(app::compared_with(told.dense_bytes_fp32, told)) != std::string::npos);
      }
      // The libraries allocated their memory when check measured the speed of products.
      auto const predicted = report.memory.device() - report.memory.libraries;
      INFO("allocated " << allocated_bytes << ", predicted " << predicted);
      CHECK(static_cast<double>(allocated_bytes) <= 1.05 * static_cast<double>(predicted));
      CHECK(static_cast<double>(allocated_bytes) >= 0.95 * static_cast<double>(predicted));
      CHECK(trainer.layout().count() == report.parameters);
      CHECK(trainer.layout().fingerprint() == report.layout_fingerprint);
    }
}

TEST_CASE("Every 1-bit method uses the memory that check predicts, before and after its freeze") {
  auto& world = test::world();
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, 64);
  using optim::Exchange, optim::FrozenVariance, optim::Method, optim::Steer, optim::Unify;
  struct Kept {
    Method method;
    Exchange exchange = Exchange::gradient;
    Steer steer = Steer::norm;
    double step_ahead = 1;
    Unify unify = Unify::element;
    FrozenVariance variance = FrozenVariance::shape;
  };
  for (auto const& kept :
       {Kept{.method = Method::onebit_lamb, .step_ahead = 0},
        Kept{.method = Method::onebit_lamb, .unify = Unify::layer},
        Kept{.method = Method::onebit_lamb, .variance = FrozenVariance::whole},
        Kept{.method = Method::onebit_lamb, .exchange = Exchange::momentum, .step_ahead = 0},
        Kept{.method = Method::onebit_lamb, .exchange = Exchange::momentum, .steer = Steer::variance, .step_ahead = 0},
        Kept{.method = Method::onebit_adam},
        Kept{.method = Method::onebit_adam, .exchange = Exchange::momentum, .step_ahead = 0},
        Kept{.method = Method::onebit_sgd, .unify = Unify::layer}})
    for (auto const wire : {comm::Wire::fp32, comm::Wire::bf16}) {
      auto deck = small_deck(folder / "a.h5");
      deck.data.dynamic_masking = false;
      deck.model.hidden = 128;
      deck.model.feed_forward = 512;
      deck.schedule.steps = 3;
      deck.comm.dense_wire = wire;
      deck.optimizer.method = kept.method;
      deck.optimizer.exchange = kept.exchange;
      deck.optimizer.steer = kept.steer;
      deck.optimizer.step_ahead = kept.step_ahead;
      deck.optimizer.unify = kept.unify;
      deck.optimizer.frozen_variance = kept.variance;
      deck.optimizer.freeze.step = 2;
      auto const memory = app::build_report(deck, world).memory;

      AllocationCounter const counter;
      input::IoThread io;
      app::Trainer trainer(deck, world, io);
      auto const holds = [&](std::int64_t predicted) {
        CAPTURE(name_of(kept.method), static_cast<int>(kept.exchange), allocated_bytes, predicted);
        CHECK(static_cast<double>(allocated_bytes) <= 1.05 * static_cast<double>(predicted));
        CHECK(static_cast<double>(allocated_bytes) >= 0.95 * static_cast<double>(predicted));
      };
      CHECK(memory.freeze > 0);
      holds(memory.device() - memory.libraries - memory.freeze);
      app::StepRow row;
      for (int step = 0; step < 3; ++step) trainer.advance(app::StopReason::none, row);
      CHECK(row.phase == 1);
      CHECK(trainer.memory_use().freeze == 0);
      holds(memory.device() - memory.libraries);
    }
}

TEST_CASE("Held-out sequences may be longer and have more predictions than training sequences") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 32);
  auto longer = small_format(true);
  longer.sequence_length = 48;
  longer.masked_length = 9;
  write_shard(folder / "heldout.h5", longer, 0, 40);
  auto deck = small_deck(folder / "train.h5");
  deck.data.heldout = {folder / "heldout.h5"};
  deck.model.positions = 48;
  REQUIRE(faults_of(deck).empty());
  input::IoThread io;
  app::Trainer trainer(deck, test::world(), io);
  auto const row = trainer.evaluate();
  CHECK(row.mlm_loss > 0);
  CHECK(row.nsp_loss > 0);
}

TEST_CASE("Sequences that are longer than the model's positions are refused in either set") {
  TemporaryFolder const folder;
  auto longer = small_format(true);
  longer.sequence_length = 20;
  write_shard(folder / "train.h5", longer, 0, 4);
  write_shard(folder / "heldout.h5", longer, 4, 4);
  auto deck = small_deck(folder / "train.h5");
  deck.data.heldout = {folder / "heldout.h5"};
  std::string const what = ": sequences of 20 tokens; allowed: at most model.positions, 16";
  CHECK(faults_of(deck) == std::vector<std::string>{"data.train" + what, "data.heldout" + what});
}

TEST_CASE("All sizes for which a model is too small are reported together") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 4);
  auto deck = small_deck(folder / "train.h5");
  deck.model.positions = 8;
  deck.model.vocabulary = 50;
  auto const told = app::broadcast_text(test::world().communicator(), folder / "train.h5");  // rank 0's path
  CHECK(faults_of(deck) ==
        std::vector<std::string>{
            "data.train: " + told + ": made with a vocabulary of 100; allowed: at most model.vocabulary, 50",
            "data.train: sequences of 16 tokens; allowed: at most model.positions, 8"});
}

TEST_CASE("Special ids that the model has no rows for are refused") {
  TemporaryFolder const folder;
  auto format = small_format(false);
  format.vocabulary = 0;  // the shard does not record its vocabulary
  format.special = {1, 99, 100};
  write_shard(folder / "train.h5", format, 0, 4);
  auto const deck = small_deck(folder / "train.h5");  // model.vocabulary: 100
  auto const told = app::broadcast_text(test::world().communicator(), folder / "train.h5");
  CHECK(faults_of(deck) ==
        std::vector<std::string>{"data.train: " + told + ": [MASK] is id 100; allowed: 0 to model.vocabulary - 1, 99"});
}

TEST_CASE("Held-out shards of another vocabulary are refused") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 4);
  auto format = small_format(true);
  format.vocabulary = 60;
  write_shard(folder / "fewer.h5", format, 4, 4);
  format = small_format(true);
  format.special.classify = 5;
  write_shard(folder / "moved.h5", format, 4, 4);
  auto deck = small_deck(folder / "train.h5");
  deck.data.heldout = {folder / "fewer.h5"};
  CHECK(faults_of(deck) ==
        std::vector<std::string>{"data.heldout: made with a vocabulary of 60, data.train with one of 100; allowed: "
                                 "shards of one vocabulary"});
  deck.data.heldout = {folder / "moved.h5"};
  CHECK(faults_of(deck) ==
        std::vector<std::string>{"data.heldout: made with [CLS], [SEP], [MASK] = 5, 2, 3, data.train with 1, 2, 3; "
                                 "allowed: shards of one vocabulary"});
}

TEST_CASE("Held-out shards of another vocabulary of the same size are refused") {
  TemporaryFolder const folder;
  auto format = small_format(true);
  format.vocabulary_checksum = "00000000000000aa";
  write_shard(folder / "train.h5", format, 0, 4);
  format.vocabulary_checksum = "00000000000000bb";
  write_shard(folder / "other.h5", format, 4, 4);
  format.vocabulary_checksum = "";
  write_shard(folder / "unknown.h5", format, 4, 4);
  auto deck = small_deck(folder / "train.h5");
  deck.data.heldout = {folder / "other.h5"};
  CHECK(faults_of(deck) ==
        std::vector<std::string>{
            "data.heldout: made with a vocabulary of checksum 00000000000000bb, data.train with one of "
            "checksum 00000000000000aa: the same ids are other tokens; allowed: shards of one "
            "vocabulary"});
  deck.data.heldout = {folder / "unknown.h5"};
  CHECK(faults_of(deck).empty());
}

TEST_CASE("A copy of the training shards is refused as held-out set") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 4);
  std::filesystem::copy_file(folder / "train.h5", folder / "copy.h5");
  auto deck = small_deck(folder / "train.h5");
  deck.data.heldout = {folder / "copy.h5"};
  auto const told = [](std::string const& path) { return app::broadcast_text(test::world().communicator(), path); };
  auto const copy = told(folder / "copy.h5"), train = told(folder / "train.h5");
  CHECK(faults_of(deck) == std::vector<std::string>{"data.heldout: " + copy + ": holds the same rows as " + train +
                                                    " of data.train; allowed: rows that are not trained on"});
}

TEST_CASE("A model that the host cannot hold is refused before it is allocated") {
  if (on_devices) SKIP("training is on a device, whose memory says so itself");
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 4);
  auto deck = small_deck(folder / "train.h5");
  deck.model.hidden = 1 << 16;
  deck.model.feed_forward = 1 << 18;
  deck.model.layers = 500;
  auto const faults = faults_of(deck);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].starts_with("batch.micro: a rank needs "));
  CHECK(faults[0].ends_with("; reduce batch.micro, the model or the number of ranks per host"));
}

TEST_CASE("A global batch larger than the training set gives a warning") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 4);
  auto deck = small_deck(folder / "train.h5");
  deck.data.dynamic_masking = false;
  CHECK(app::build_report(deck, test::world()).warnings ==
        std::vector<std::string>{"batch.global: 8, but data.train has 4 sequences: every step trains on some of them "
                                 "more than once; lower batch.global, or add text"});
  deck.batch.global = 4;
  CHECK(app::build_report(deck, test::world()).warnings.empty());
}

TEST_CASE("A held-out set much larger than the training set gives a warning") {
  TemporaryFolder const folder;
  write_shard(folder / "few.h5", small_format(false), 0, 240);
  write_shard(folder / "many.h5", small_format(false), 310, 1240);
  auto deck = small_deck(folder / "few.h5");
  deck.data.heldout = {folder / "many.h5"};
  CHECK(app::build_report(deck, test::world()).warnings ==
        std::vector<std::string>{"data.heldout: has 1240 sequences, data.train has 240: the two may be exchanged"});
  write_shard(folder / "enough.h5", small_format(false), 0, 310);
  deck.data.train = {folder / "enough.h5"};
  CHECK(app::build_report(deck, test::world()).warnings.empty());
}

TEST_CASE("A warning says what the library's allreduce does not guarantee") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 8);
  auto deck = small_deck(folder / "train.h5");
  deck.data.dynamic_masking = false;
  deck.comm.allreduce = comm::Allreduce::library;
  auto const report = app::build_report(deck, test::world());
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0].starts_with("comm.allreduce: library: "));
}

TEST_CASE("Fewer held-out sequences than requested give a warning") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 8);
  write_shard(folder / "heldout.h5", small_format(true), 8, 20);
  auto deck = small_deck(folder / "train.h5");
  deck.data.dynamic_masking = false;
  deck.data.heldout = {folder / "heldout.h5"};
  deck.statistics.evaluate_sequences = 21;
  CHECK(
      app::build_report(deck, test::world()).warnings ==
      std::vector<std::string>{"statistics.evaluate_sequences: 21, but data.heldout has 20 sequences; evaluations use "
                               "all of them"});
  deck.statistics.evaluate_sequences = 20;
  CHECK(app::build_report(deck, test::world()).warnings.empty());
}

TEST_CASE("Shards without any masked position give a warning") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(true), 0, 4);
  {
    input::ShardWriter writer(folder / "bare.h5", small_format(true));
    for (int row = 0; row < 8; ++row) {
      auto sample = sample_of(row, small_format(false));
      writer.append(sample);
    }
    writer.close();
  }
  auto deck = small_deck(folder / "bare.h5");
  deck.data.dynamic_masking = false;
  auto const report = app::build_report(deck, test::world());
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0].starts_with("data.train: no masked positions in the first rows"));
  deck.data.train = {folder / "train.h5", folder / "bare.h5"};
  auto const beside = app::build_report(deck, test::world());
  REQUIRE(beside.warnings.size() == 1);
  CHECK(beside.warnings[0].ends_with(
      "bare.h5: has no masked positions in its first rows: only next sentences to predict"));
}

TEST_CASE("Static masks instead of dynamic ones give a warning") {
  TemporaryFolder const folder;
  write_shard(folder / "static.h5", small_format(true), 0, 8);
  write_shard(folder / "dynamic.h5", small_format(false), 0, 8);
  auto const still = app::build_report(small_deck(folder / "static.h5"), test::world());
  CHECK(still.static_masks);
  REQUIRE(still.warnings.size() == 1);
  CHECK(still.warnings[0].starts_with("data.dynamic_masking: true, but data.train holds static masks"));
  auto const drawn = app::build_report(small_deck(folder / "dynamic.h5"), test::world());
  CHECK_FALSE(drawn.static_masks);
  CHECK(drawn.warnings.empty());
}

TEST_CASE("Shards that allow fewer masked tokens than mask_probability give one warning") {
  TemporaryFolder const folder;
  write_shard(folder / "train.h5", small_format(false), 0, 4);
  write_shard(folder / "heldout.h5", small_format(false), 4, 20);
  auto more = small_format(false);
  more.masked_length = 5;
  write_shard(folder / "more.h5", more, 4, 20);
  auto deck = small_deck(folder / "train.h5");
  deck.batch = {.global = 4, .micro = 4};
  deck.data.heldout = {folder / "heldout.h5"};
  deck.statistics.evaluate_sequences = 20;
  auto const warnings = [&](double probability) {
    deck.data.mask_probability = probability;
    return app::build_report(deck, test::world()).warnings;
  };
  std::string const train =
      "data.train: masks 18.8 % of a full row instead of the 40 % of data.mask_probability: the shards allow at most 3 "
      "masked tokens in a row of 16; prepare them again with --max-predictions 6, or set data.mask_probability to "
      "0.1875";
  CHECK(warnings(0.4) == std::vector<std::string>{train});
  CHECK(warnings(0.1875).empty());
  CHECK(warnings(0.2).empty());  // 3.2 of 16 tokens are 3
  // [CLS] and [SEP] are never masked: 13 of 16 tokens are all that a larger share could add.
  CHECK(warnings(1).front().find("--max-predictions 13,") != std::string::npos);
  deck.data.heldout = {folder / "more.h5"};
  auto const both = warnings(0.4);
  REQUIRE(both.size() == 2);
  CHECK(both[0] == train);
  CHECK(both[1].starts_with("data.heldout: masks 31.3 % of a full row instead of the 40 %"));
  // Static masks were drawn before, and have a warning of their own.
  write_shard(folder / "static.h5", small_format(true), 0, 4);
  deck.data.train = {folder / "static.h5"};
  deck.data.heldout = {};
  REQUIRE(warnings(0.4).size() == 1);
  CHECK(warnings(0.4)[0].starts_with("data.dynamic_masking: true, but"));
}
