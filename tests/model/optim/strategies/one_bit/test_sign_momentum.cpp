// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/sign_momentum.hpp"
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <limits>
#include <tuple>

// Exchanged momenta stored in bits: the same steps as with numbers, and 4 n bytes less memory.

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

namespace {

optim::OptimizerConfig exchanging(Method method, optim::Exchange exchange = optim::Exchange::momentum) {
  auto config = onebit(method, 3);
  config.exchange = exchange;
  config.step_ahead = 0;
  config.beta2 = 0.9;
  return config;
}

/// All ranks, or nodes of two ranks.
struct Ranks {
  explicit Ranks(bool of_nodes)
      : nodes(comm::chosen_nodes(world().nodes(), group().rank(), comm = layout(of_nodes))),
        groups(group(), nodes, comm) {}
  static comm::CommConfig layout(bool of_nodes) {
    comm::CommConfig comm;
    if (of_nodes) {
      comm.hierarchy = comm::Hierarchy::node;
      comm.ranks_per_node = group().size() % 2 == 0 ? 2 : 1;
    }
    return comm;
  }
  comm::NodeGroups const* used() const { return comm.hierarchy == comm::Hierarchy::node ? &groups : nullptr; }

  comm::CommConfig comm;
  comm::Nodes nodes;
  comm::NodeGroups groups;
};

void skip(Training& training, int t) {
  training.step(t, std::vector<float>(static_cast<std::size_t>(training.layout.count()),
                                      std::numeric_limits<float>::quiet_NaN()));
}

bool in_bits(MemoryState const& state) {
  return state.integers.contains("momentum_in_bits") && state.integers.at("momentum_in_bits") == 1;
}

}  // namespace

TEST_CASE("runs that exchange momenta resume bit for bit before, at and after the first exchange") {
  auto const layout = active_layout();
  using optim::FrozenVariance, optim::Steer, optim::Unify;
  auto const [method, unify, steer, kept] =
      GENERATE(std::tuple{Method::onebit_lamb, Unify::layer, Steer::variance, FrozenVariance::whole},  // the paper's
               std::tuple{Method::onebit_lamb, Unify::element, Steer::variance, FrozenVariance::shape},
               std::tuple{Method::onebit_lamb, Unify::element, Steer::norm, FrozenVariance::shape},
               std::tuple{Method::onebit_lamb, Unify::none, Steer::norm, FrozenVariance::whole},
               std::tuple{Method::onebit_adam, Unify::element, Steer::norm, FrozenVariance::shape});
  auto config = exchanging(method);
  config.unify = unify;
  config.steer = steer;
  config.frozen_variance = kept;
  bool const skips = GENERATE(false, true);
  Ranks const ranks(GENERATE(false, true));
  int const nodes = ranks.used() ? ranks.groups.inter_node().size() : group().size();
  Training whole(layout, config, group(), ranks.comm, ranks.used());
  whole.start();
  std::vector<std::pair<int, MemoryState>> states;
  std::vector<std::vector<float>> parameters;
  for (int t = 1; t <= 8; ++t) {
    if (t == 4 && skips) {
      skip(whole, t);  // frozen, but without an exchange yet
      states.emplace_back(t, whole.state());
      parameters.push_back(download(whole.parameters));
      CHECK(on_all(!in_bits(states.back().second)));
    }
    run(whole, t, t);
    CHECK(equal_on_all_ranks(download(whole.parameters)));
    if (t != 3 && t != 4 && t != 6) continue;
    states.emplace_back(t + 1, whole.state());
    parameters.push_back(download(whole.parameters));
    CHECK(on_all(in_bits(states.back().second) == (t > 3 && nodes > 1)));
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    CAPTURE(states[i].first);
    Training resumed(layout, config, group(), ranks.comm, ranks.used());
    resumed.restore(states[i].second, parameters[i]);
    CHECK(on_all(same_bits(states[i].second, resumed.state())));
    for (int t = states[i].first; t <= 8; ++t) {
      if (t == 4 && skips && states[i].first == 4 && i == 0) skip(resumed, t);
      run(resumed, t, t);
    }
    CHECK(on_all(same_bits(download(whole.parameters), download(resumed.parameters))));
    CHECK(on_all(same_bits(whole.state(), resumed.state())));
  }
}

TEST_CASE("a skipped step does not change a sign momentum") {
  auto const layout = active_layout();
  auto config = exchanging(GENERATE(Method::onebit_lamb, Method::onebit_adam));
  config.steer = GENERATE(optim::Steer::norm, optim::Steer::variance);
  Training training(layout, config, group());
  training.start();
  run(training, 1, 6);
  auto const before = training.state();
  skip(training, 7);
  CHECK(on_all(training.optimizer->last_report().skipped));
  auto after = training.state();
  after.integers["skipped_steps"] = before.integers.at("skipped_steps");
  CHECK(on_all(same_bits(before, after)));
}

TEST_CASE("a step from a sign momentum equals the step from its numbers") {
  auto const layout = active_layout();
  auto config = exchanging(GENERATE(Method::onebit_lamb, Method::onebit_adam));
  config.unify = GENERATE(optim::Unify::element, optim::Unify::layer, optim::Unify::none);
  config.steer = GENERATE(optim::Steer::norm, optim::Steer::variance);
  Training bits(layout, config, group());
  bits.start();
  run(bits, 1, 6);
  auto state = bits.state();
  Training numbers(layout, config, group());
  // Remove the mark that its numbers are bits, as if one rank had saved them.
  state.integers["momentum_in_bits"] = 0;
  numbers.restore(state, download(bits.parameters));
  for (auto* const training : {&bits, &numbers}) run(*training, 7, 7);
  auto const one = download(bits.parameters), other = download(numbers.parameters);
  double largest = 0, off = 0;
  for (std::size_t k = 0; k < one.size(); ++k) {
    largest = larger(largest, std::abs(static_cast<double>(one[k])));
    off = larger(off, std::abs(static_cast<double>(one[k]) - other[k]));
  }
  CHECK(on_all(off <= 1e-6 * largest));
}

TEST_CASE("from the second exchange on, momenta in bits replace 4 n bytes of numbers") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  auto const steer = GENERATE(optim::Steer::norm, optim::Steer::variance);
  std::int64_t bytes[2];
  for (auto const exchange : {optim::Exchange::gradient, optim::Exchange::momentum}) {
    auto config = exchanging(method, exchange);
    config.steer = steer;
    Training training(layout, config, group());
    training.start();
    auto const told = training.optimizer->state_bytes();
    run(training, 1, 5);
    bytes[exchange == optim::Exchange::momentum] = training.optimizer->state_bytes();
    CHECK(on_all(training.optimizer->state_bytes() <= told));
  }
  auto const n = layout.count();
  auto const saved = 4 * n - optim::SignMomentum::predicted_bytes(n, std::ssize(layout.tensors()));
  CHECK(on_all(bytes[0] - bytes[1] == (group().size() > 1 ? saved : 0)));
  CHECK(saved > 3 * n);
}

TEST_CASE("a second dense phase starts from the numbers of the momentum's bits") {
  auto const layout = active_layout();
  auto config = exchanging(GENERATE(Method::onebit_lamb, Method::onebit_adam));
  config.steer = GENERATE(optim::Steer::norm, optim::Steer::variance);
  Training frozen(layout, config, group());
  frozen.start();
  run(frozen, 1, 6);
  auto const state = frozen.state();
  config.freeze.step = 8;
  Training thawed(layout, config, group());
  thawed.restore(state, download(frozen.parameters));
  CHECK(on_all(!thawed.optimizer->frozen_after()));
  CHECK(on_all(same_bits(thawed.state().arrays.at("momentum"), state.arrays.at("momentum"))));
  CHECK(on_all(!thawed.state().arrays.contains("momentum_magnitudes")));
  run(thawed, 7, 10);
  CHECK(on_all(in_bits(thawed.state()) == (group().size() > 1)));
  CHECK(equal_on_all_ranks(download(thawed.parameters)));
}
