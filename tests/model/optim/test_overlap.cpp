// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "model/optim/freeze.hpp"
#include "model/optim/strategies/average/dense_step.hpp"
#include "tests/model/optim/optimizer_fixture.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <limits>
#include <stdexcept>

// Gradients that are sent while backward still computes others.

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;
using optim::OptimizerConfig;

namespace {

/// Makes one step whose gradients become ready in pieces from the end. Each piece is announced once it is written.
void step_in_pieces(Training& training, int t, std::vector<float> const& gradient, Index piece) {
  upload(training.gradients, std::vector<float>(gradient.size(), std::numeric_limits<float>::quiet_NaN()));
  auto const whole = training.gradients.flat();
  for (Index last = training.layout.count(); last > 0; last -= std::min(piece, last)) {
    Index const first = last - std::min(piece, last);
    Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const from(
        gradient.data() + first, static_cast<std::size_t>(last - first));
    Kokkos::deep_copy(Kokkos::subview(whole, std::pair(first, last)), from);
    training.optimizer->gradient_ready(training.exec, training.gradients, {first, last});
  }
  training.optimizer->step(training.exec, training.parameters, training.gradients, {t, 0.01, false});
}

void step_at_once(Training& training, int t, std::vector<float> const& gradient) {
  upload(training.gradients, gradient);
  training.optimizer->step(training.exec, training.parameters, training.gradients, {t, 0.01, false});
}

comm::CommConfig in_segments(std::int64_t elements, comm::Wire wire) {
  comm::CommConfig config;
  config.dense_wire = wire;
  config.dense_segment = elements;
  return config;
}

OptimizerConfig config_of(Method method) {
  OptimizerConfig config;
  config.method = method;
  config.clip = 0.5;
  if (compresses(method)) config.freeze.step = 4;
  return config;
}

/// Checks that two optimizers on the same ranks hold the same bits and report the same last step.
void check_same(Training& one, Training& other) {
  CHECK(same_bits(download(one.parameters), download(other.parameters)));
  CHECK(same_bits(one.state(), other.state()));
  auto const &a = one.optimizer->last_report(), &b = other.optimizer->last_report();
  CHECK(a.skipped == b.skipped);
  CHECK(a.bad_rank == b.bad_rank);
  CHECK(a.first_bad_layer == b.first_bad_layer);
  CHECK(same_bits(std::vector{a.gradient_norm, a.clip_factor, a.mean_square, a.local_square},
                  std::vector{b.gradient_norm, b.clip_factor, b.mean_square, b.local_square}));
}

}  // namespace

TEST_CASE("segments go from the end of the layout to its front, after the norms of their blocks") {
  auto const layout = awkward_layout();
  auto const least = GENERATE(Index{1}, 33, 4096, 5000, 1 << 20);
  int const ranks = GENERATE(1, 2, 3, 7, 5000);
  auto const blocks = cut_into_blocks(layout);
  Index end = layout.count(), block = std::ssize(blocks);
  std::vector<std::int64_t> sent(static_cast<std::size_t>(ranks));
  auto const bytes = [&](Index count, int rank) {
    return comm::DenseMean::predicted_bytes(count, rank, ranks, comm::Wire::fp32, comm::Allreduce::ordered);
  };
  bool right = true;
  for (auto const& [elements, of_blocks, needs] : optim::cut_into_segments(layout, least, ranks)) {
    right = right && elements.last == end && of_blocks.last == block && of_blocks.first <= block;
    end = elements.first;
    block = of_blocks.first;
    right = right && (end == 0 || elements.last - end == (least + ranks - 1) / ranks * ranks);
    // The oldest block contains the segment's first element.
    REQUIRE((block >= 0 && block < std::ssize(blocks)));
    auto const& oldest = blocks[static_cast<std::size_t>(block)];
    right = right && needs == oldest.first && oldest.first <= end && end < oldest.first + oldest.count;
    for (int rank = 0; rank < ranks; ++rank) sent[static_cast<std::size_t>(rank)] += bytes(elements.last - end, rank);
  }
  CHECK((right && end == 0 && block == 0));
  for (int rank = 0; rank < ranks; ++rank)
    right = right && sent[static_cast<std::size_t>(rank)] == bytes(layout.count(), rank);
  CHECK(right);
  CHECK(optim::cut_into_segments(ParameterLayout(), 1, 2).empty());
}

TEST_CASE("steps with overlap equal those without it bit for bit and send as many bytes as predicted") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  auto const config = config_of(GENERATE(Method::lamb, Method::adamw, Method::onebit_lamb, Method::onebit_sgd));
  auto const wire = GENERATE(comm::Wire::fp32, comm::Wire::bf16);
  auto const segment = GENERATE(97, 5000);
  Training whole(layout, config, ranks, in_segments(1 << 20, wire)),
      cut(layout, config, ranks, in_segments(segment, wire));
  whole.start();
  cut.start();
  for (int t = 1; t <= 6; ++t) {
    auto const gradient = whole.sample(t, ranks.rank());
    step_at_once(whole, t, gradient);
    // The last rank announces nothing, like one without sequences. The others use pieces of different sizes.
    if (ranks.rank() + 1 == ranks.size() && ranks.size() > 1)
      step_at_once(cut, t, gradient);
    else
      step_in_pieces(cut, t, gradient, 3000 + 1999 * ranks.rank());
    INFO("step " << t);
    check_same(whole, cut);
    auto const& report = cut.optimizer->last_report();
    bool const dense = report.phase == optim::Phase::dense;
    CHECK(report.sent.all() == cut.optimizer->predicted_bytes(report.phase)->all());
    CHECK(
        report.segments.size() ==
        (dense && ranks.size() > 1 ? optim::cut_into_segments(layout, segment, ranks.size()).size() : std::size_t{0}));
    for (auto const& one : report.segments)
      CHECK((one.ready <= one.mean.started && one.mean.started <= one.mean.summed &&
             one.mean.summed <= one.mean.finished));
    if (dense)
      CHECK(report.sent.exchange == comm::DenseMean::predicted_bytes(layout.count(), ranks.rank(), ranks.size(), wire,
                                                                     comm::Allreduce::ordered));
  }
}

TEST_CASE("from the second step on, gradients are sent before step() is called") {
  auto& ranks = world().communicator();
  if (ranks.size() == 1) SKIP("one rank sends nothing");
  auto const layout = awkward_layout();
  Training training(layout, config_of(Method::lamb), ranks, in_segments(5000, comm::Wire::fp32));
  training.start();
  Index const half = layout.count() / 2;
  for (int t = 1; t <= 3; ++t) {
    upload(training.gradients, training.sample(t, ranks.rank()));
    auto const before = ranks.traffic().sent_bytes;
    training.optimizer->gradient_ready(training.exec, training.gradients, {half, layout.count()});
    CHECK((ranks.traffic().sent_bytes > before) == (t > 1));
    auto const between = ranks.traffic().sent_bytes;
    // A range that is not adjacent to the last one waits for step().
    training.optimizer->gradient_ready(training.exec, training.gradients, {0, 10});
    double others = 1;  // other traffic does not count as the step's
    ranks.sum_host({&others, 1}, "bellwether::test::between");
    training.optimizer->step(training.exec, training.parameters, training.gradients, {t, 0.01, false});
    CHECK(ranks.traffic().sent_bytes > between);
    auto const& report = training.optimizer->last_report();
    CHECK(report.sent.all() == training.optimizer->predicted_bytes(optim::Phase::dense)->all());
    CHECK_THROWS_AS(
        [&] {
          training.optimizer->gradient_ready(training.exec, training.gradients, {half, layout.count() + 1});
        }(),
        InternalError);
  }
}

TEST_CASE("the rank and tensor of a gradient that is not finite are named with overlap, too") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  Training training(layout, config_of(Method::lamb), ranks, in_segments(4000, comm::Wire::bf16));
  training.start();
  step_in_pieces(training, 1, training.sample(1, ranks.rank()), 5000);
  auto const state = training.state();
  auto gradient = training.sample(2, ranks.rank());
  if (ranks.rank() == ranks.size() - 1)
    gradient[static_cast<std::size_t>(layout.find("block").offset) + 17] = std::numeric_limits<float>::infinity();
  step_in_pieces(training, 2, gradient, 5000);
  auto const& report = training.optimizer->last_report();
  CHECK(report.skipped);
  CHECK(report.bad_rank == ranks.size() - 1);
  CHECK(report.first_bad_layer == layout.index_of("block"));
  CHECK(training.state().arrays == state.arrays);
}

TEST_CASE("gradients that are announced twice are refused") {
  auto const self = comm::make_self_communicator();
  auto const layout = awkward_layout();
  Training training(layout, config_of(Method::adamw), *self);
  training.optimizer->gradient_ready(training.exec, training.gradients, {100, layout.count()});
  CHECK_THROWS_AS(training.optimizer->gradient_ready(training.exec, training.gradients, {100, layout.count()}),
                  InternalError);
}

TEST_CASE("an exception between gradients and step is reported") {
  if (world().size() == 1) SKIP("one rank sends nothing");
  auto const ranks = comm::make_world_communicator({});
  auto const layout = awkward_layout();
  try {
    Training training(layout, config_of(Method::lamb), *ranks, in_segments(4000, comm::Wire::fp32));
    training.start();
    training.step(1, training.sample(1, ranks->rank()));
    upload(training.gradients, training.sample(2, ranks->rank()));
    training.optimizer->gradient_ready(training.exec, training.gradients, {5000, layout.count()});
    throw std::runtime_error("in between");
  } catch (std::runtime_error const& error) {
    CHECK(std::string(error.what()) == "in between");
  }
  ranks->barrier("bellwether::test::all_are_here");
}

TEST_CASE("possible() is true at every freeze") {
  OptimizerConfig config;
  config.method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  config.beta2 = 0.99;
  config.coefficient_beta = 0.9;
  if (GENERATE(false, true)) config.freeze.step = 37;
  auto const calm_from = GENERATE(0, 120, 1000);
  optim::FreezePoint point(config, 400, 20);
  bool reached = false;
  int asked = 0;
  for (std::int64_t t = 1; t <= 400 && !reached; ++t) {
    bool const possible = point.possible(t);
    asked += possible;
    reached = point.reached(t, [&](double) { return t < calm_from ? 0.5 : 0.01; });
    if (reached) CHECK(possible);
  }
  CHECK(reached);
  CHECK(asked < 40);
}
