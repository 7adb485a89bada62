// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"
#include "comm/compression/compressed_allreduce.hpp"
#include "core/random/random.hpp"
#include "model/optim/strategies/one_bit/variance_growth.hpp"
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;
using optim::Method;

TEST_CASE("with a freeze after the last step, a 1-bit method equals its uncompressed one bit for bit") {
  auto const layout = active_layout();
  auto const [compressing, plain] =
      GENERATE(std::pair{Method::onebit_lamb, Method::lamb}, std::pair{Method::onebit_adam, Method::adamw});
  auto config = onebit(compressing, 6);
  Training one(layout, config, group());
  config.method = plain;
  config.freeze.step.reset();
  Training other(layout, config, group());
  for (auto* const training : {&one, &other}) {
    training->start();
    run(*training, 1, 6);
  }
  CHECK(on_all(download(one.parameters) == download(other.parameters)));
  CHECK(one.optimizer->last_report().phase == optim::Phase::dense);
  run(one, 7, 7);
  CHECK(one.optimizer->last_report().phase == optim::Phase::compressed);
}

TEST_CASE("parameters are equal on all ranks in the compressed phase, and bytes are as predicted") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  comm::CommConfig comm;
  comm.scale_groups = GENERATE(1, 5);
  auto config = onebit(method, 2);
  config.unify = GENERATE(optim::Unify::layer, optim::Unify::element);
  config.exchange = GENERATE(optim::Exchange::gradient, optim::Exchange::momentum);
  Training training(layout, config, group(), comm);
  training.start();
  for (int t = 1; t <= 6; ++t) {
    run(training, t, t);
    CHECK(equal_on_all_ranks(download(training.parameters)));
    auto const& report = training.optimizer->last_report();
    bool const compressed = t > 2;
    CHECK(on_all((report.phase == optim::Phase::compressed) == compressed));
    auto const dense = comm::DenseMean::predicted_bytes(layout.count(), group().rank(), group().size(),
                                                        comm::Wire::fp32, comm.allreduce);
    auto const bits = comm::CompressedAllreduce::predicted_bytes(layout.count(), group().size(), *comm.scale_groups);
    CHECK(on_all(report.sent.exchange == (compressed ? bits : dense) && report.sent.dense_fp32 == dense));
    CHECK(equal_on_all_ranks({static_cast<float>(report.gradient_norm), static_cast<float>(report.clip_factor)}));
  }
}

TEST_CASE("with node groups, parameters are equal on all ranks, runs resume bit for bit, and bytes are as predicted") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  auto const wire = GENERATE(comm::Wire::fp32, comm::Wire::bf16);
  auto config = onebit(method, 2);
  config.step_ahead = 1;
  for (int here = 1; here <= group().size(); ++here) {
    if (group().size() % here != 0) continue;
    comm::CommConfig comm;
    comm.hierarchy = comm::Hierarchy::node;
    comm.ranks_per_node = here;
    comm.dense_wire = wire;
    auto const nodes = comm::chosen_nodes(world().nodes(), group().rank(), comm);
    auto const all = group().split(0, group().rank());
    all->set_nodes(nodes.node_of);
    comm::NodeGroups const groups(*all, nodes, comm);
    Training whole(layout, config, *all, comm, &groups);
    whole.start();
    auto const told = whole.optimizer->state_bytes();
    MemoryState state;
    std::vector<float> parameters;
    for (int t = 1; t <= 7; ++t) {
      run(whole, t, t);
      CHECK(equal_on_all_ranks(download(whole.parameters)));
      auto const& report = whole.optimizer->last_report();
      auto const predicted = whole.optimizer->predicted_bytes(report.phase).value();
      CHECK(on_all(report.sent.exchange == predicted.exchange && report.sent.scalars == predicted.scalars &&
                   report.sent.intra_node == predicted.intra_node));
      CHECK(on_all(report.sent.worker == predicted.worker && report.sent.server == predicted.server &&
                   report.sent.dense_fp32 == predicted.dense_fp32 && report.sent.dense_16bit == predicted.dense_16bit));
      if (t != 4) continue;
      state = whole.state();
      parameters = download(whole.parameters);
    }
    CHECK(on_all(whole.optimizer->state_bytes() == told));
    Training resumed(layout, config, *all, comm, &groups);
    resumed.restore(state, parameters);
    run(resumed, 5, 7);
    CHECK(on_all(download(whole.parameters) == download(resumed.parameters)));
    CHECK(on_all(same_bits(whole.state(), resumed.state())));
    if (here > 1 || wire == comm::Wire::bf16) continue;
    Training flat(layout, config, *all, comm);
    flat.start();
    run(flat, 1, 7);
    CHECK(on_all(download(whole.parameters) == download(flat.parameters)));
  }
}

TEST_CASE("an infinity on one rank makes all ranks skip a compressed step without a change of state") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  comm::CommConfig comm;
  comm.hierarchy = GENERATE(comm::Hierarchy::none, comm::Hierarchy::node);
  if (comm.hierarchy == comm::Hierarchy::node) comm.ranks_per_node = group().size() % 2 == 0 ? 2 : 1;
  auto const nodes = comm::chosen_nodes(world().nodes(), group().rank(), comm);
  comm::NodeGroups const groups(group(), nodes, comm);
  auto const* const used = comm.hierarchy == comm::Hierarchy::node ? &groups : nullptr;
  auto config = onebit(method, 2);
  config.sketch_every = 2;  // the skipped step computes a sketch
  Training training(layout, config, group(), comm, used);
  training.start();
  run(training, 1, 4);
  auto const before = training.state();
  auto const parameters = download(training.parameters);
  auto gradient = training.sample(5, group().rank());
  int const bad = group().size() - 1;
  auto const& tensor = layout.find("block");
  if (group().rank() == bad)
    gradient[static_cast<std::size_t>(tensor.offset + 7)] = std::numeric_limits<float>::infinity();
  training.step(5, gradient);
  auto const report = training.optimizer->last_report();
  CHECK(on_all(report.skipped && report.bad_rank == bad));
  CHECK(on_all(report.first_bad_layer == layout.index_of("block")));
  auto after = training.state();
  after.integers["skipped_steps"] = before.integers.at("skipped_steps");
  CHECK(on_all(same_bits(before, after)));
  CHECK(on_all(parameters == download(training.parameters)));
  // The next step must equal that of an undisturbed run.
  Training undisturbed(layout, config, group(), comm, used);
  undisturbed.start();
  run(undisturbed, 1, 5);
  run(training, 5, 5);
  CHECK(on_all(download(undisturbed.parameters) == download(training.parameters)));
}

TEST_CASE("a resumed run equals an uninterrupted one") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  int const saved_after = GENERATE(1, 3, 4, 6);  // in the dense phase, at the freeze, in the compressed phase
  auto config = onebit(method, 3);
  config.sketch_every = 2;
  Training whole(layout, config, group());
  whole.start();
  run(whole, 1, saved_after);
  auto state = whole.state();
  auto const parameters = download(whole.parameters);
  run(whole, saved_after + 1, 9);
  Training resumed(layout, config, group());
  resumed.restore(state, parameters);
  run(resumed, saved_after + 1, 9);
  CHECK(on_all(download(whole.parameters) == download(resumed.parameters)));
  CHECK(on_all(same_bits(whole.state(), resumed.state())));
}

TEST_CASE("the memory reported before the freeze is that of the larger phase") {
  auto const layout = active_layout();
  auto config = onebit(GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd), 2);
  config.clip_norm = GENERATE(optim::CompressedClip::sketch, optim::CompressedClip::local_rms);
  config.sketch_every = GENERATE(1, 3);
  comm::CommConfig comm;
  comm.scale_groups = GENERATE(1, 7);
  Training training(layout, config, group(), comm);
  training.start();
  auto const told = training.optimizer->state_bytes();
  run(training, 1, 3);
  CHECK(on_all(training.optimizer->state_bytes() == told));
}

TEST_CASE("a learning rate of zero updates the state but not the parameters") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  Training training(layout, onebit(method, 2), group());
  training.start();
  run(training, 1, 3);
  auto const before = training.state();
  auto const parameters = download(training.parameters);
  training.step(4, training.sample(4, group().rank()), 0.0);
  CHECK(on_all(parameters == download(training.parameters)));
  CHECK(on_all(before.arrays.at("momentum") != training.state().arrays.at("momentum")));
}

TEST_CASE("elements without a gradient before the freeze are named and move by decay only") {
  ParameterLayout layout;
  layout.add({.name = "matrix", .shape = {40, 8}, .active = 320});
  layout.add({.name = "late", .shape = {24}, .active = 24});
  layout.add({.name = "tail", .shape = {10, 8}, .active = 48});  // 32 of them have no gradient: padding of the layout
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  auto config = onebit(method, 3);
  config.weight_decay = 0.01;
  Training training(layout, config, group());
  std::vector<float> start(static_cast<std::size_t>(layout.count()), 0.5f);
  upload(training.parameters, start);
  auto const first_late = static_cast<std::size_t>(layout.find("late").offset);
  auto const row = std::size_t{5 * 8};  // of the matrix
  auto const gradient = [&](int t) {
    std::vector<float> g(start.size());
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = 0.1f * std::sin(0.3f * static_cast<float>(k) + static_cast<float>(t) + static_cast<float>(group().rank()));
    if (t <= 3) {
      std::fill_n(g.begin() + static_cast<std::ptrdiff_t>(first_late), 24, 0.0f);
      std::fill_n(g.begin() + row, 8, 0.0f);
    }
    return g;
  };
  for (int t = 1; t <= 3; ++t) training.step(t, gradient(t));
  auto const frozen = download(training.parameters);
  training.step(4, gradient(4));
  auto const notices = training.optimizer->last_report().notices;
  REQUIRE(on_all(notices.size() >= 2));
  CHECK_THAT(notices[0], ContainsSubstring("step 3"));
  CHECK_THAT(notices[1], ContainsSubstring("matrix (8 of 320 elements), late (24 of 24 elements)"));
  training.step(5, gradient(5));
  CHECK(on_all(training.optimizer->last_report().notices.empty()));
  auto const x = download(training.parameters);
  bool decayed = true;
  for (std::size_t i = 0; i < 24; ++i) {
    float const before = frozen[first_late + i], after = x[first_late + i];
    decayed = decayed && after < before && after > 0.99f * before && after == x[first_late];
  }
  for (std::size_t i = 1; i < 8; ++i) decayed = decayed && x[row + i] == x[row] && x[row] < frozen[row];
  CHECK(on_all(decayed));
  auto const m = training.state().arrays.at("momentum");
  bool still = true;
  for (std::size_t i = 0; i < 24; ++i) still = still && m[first_late + i] == 0;
  for (std::size_t i = 0; i < 8; ++i) still = still && m[row + i] == 0;
  CHECK(on_all(still));
}

TEST_CASE("clipping does not jump at the freeze if gradients differ between ranks") {
  // Large noise on each rank and a small common part: the ranks' norms are far above that of the mean.
  ParameterLayout layout;
  layout.add({.name = "matrix", .shape = {512, 64}, .active = 512 * 64});
  auto config = onebit(Method::onebit_lamb, 4);
  config.clip = 0.5;
  config.sketch_columns = 4096;
  config.sketch_every = GENERATE(1, 3);
  config.clip_norm = GENERATE(optim::CompressedClip::sketch, optim::CompressedClip::local_rms);
  Training training(layout, config, group());
  upload(training.parameters, std::vector<float>(static_cast<std::size_t>(layout.count()), 0.1f));
  double dense = 0, compressed = 0;
  for (int t = 1; t <= 8; ++t) {
    std::vector<float> g(static_cast<std::size_t>(layout.count()));
    RandomStream noise(7, Purpose::sketch, static_cast<std::uint64_t>(t), static_cast<std::uint32_t>(group().rank()));
    for (auto& value : g) value = static_cast<float>(0.02 * (noise.real() - 0.5) + 0.001);
    training.step(t, g);
    auto const& report = training.optimizer->last_report();
    (t <= 4 ? dense : compressed) += report.gradient_norm / 4;
    if (t <= 4) continue;
    bool const sketches =
        config.clip_norm == optim::CompressedClip::sketch && group().size() > 1 && (t - 5) % config.sketch_every == 0;
    Index const scalars = (sketches ? config.sketch_columns : 0) + 2 * group().size() +
                          (config.variance_grows() ? optim::VarianceGrowth::sketches(1) : 0);
    CHECK(on_all(report.sent.scalars == comm::DenseMean::predicted_bytes(scalars, group().rank(), group().size(),
                                                                         comm::Wire::fp32, comm::Allreduce::ordered)));
  }
  double const jump = compressed / dense;
  if (config.clip_norm == optim::CompressedClip::sketch || group().size() == 1)
    CHECK(on_all(std::abs(jump - 1) < 0.05));
  else
    CHECK(on_all(jump > 1.1 && jump < std::sqrt(group().size()) * 1.05));
}
