// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck_warnings.hpp"
#include "comm/world.hpp"
#include "input/deck.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using optim::Method;

namespace {

/// A deck that nothing can be said against.
input::Deck settled(Method method) {
  input::Deck deck;
  deck.optimizer.method = method;
  deck.optimizer.freeze.step = 1000;
  deck.schedule.steps = 5000;
  deck.schedule.warmup_steps = 1000;
  return deck;
}

/// The one warning, without the key and its value.
std::string warning(input::Deck const& deck) {
  auto const texts = app::deck_warnings(deck);
  REQUIRE(texts.size() == 1);
  auto const subject = "optimizer.freeze.step: " + std::to_string(deck.optimizer.freeze.step.value()) + ", but ";
  REQUIRE(texts[0].starts_with(subject));
  return texts[0].substr(subject.size());
}

}  // namespace

TEST_CASE("A freeze that is late enough is not warned of") {
  for (auto const method : {Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd})
    CHECK(app::deck_warnings(settled(method)).empty());
  CHECK(app::deck_warnings(input::Deck()).empty());
}

TEST_CASE("A freeze that the program chooses is not warned of") {
  auto deck = settled(Method::onebit_lamb);
  deck.optimizer.freeze.step.reset();
  deck.schedule.warmup_steps = 5000;
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("A freeze that never comes is told, and nothing else about it") {
  auto deck = settled(Method::onebit_lamb);
  deck.schedule.steps = 1000;
  deck.optimizer.beta2 = 0.99999;
  CHECK(warning(deck) == "schedule.steps is 1000: nothing is ever compressed, plain LAMB to the end");
  deck.optimizer.method = Method::onebit_adam;
  CHECK(warning(deck).ends_with("plain Adam to the end"));
  deck.optimizer.method = Method::onebit_sgd;
  CHECK(warning(deck).ends_with("plain SGD with momentum to the end"));
}

TEST_CASE("A freeze before the variance has settled is told") {
  auto deck = settled(Method::onebit_adam);
  deck.schedule.warmup_steps = 0;
  deck.optimizer.freeze.step = 999;
  CHECK(warning(deck) == "optimizer.beta2 averages the variance over 1000 steps: the one that is kept has not settled");
  // 1 - 0.9 is not a tenth in binary.
  deck.optimizer.beta2 = 0.9;
  deck.optimizer.freeze.step = 10;
  CHECK(app::deck_warnings(deck).empty());
  deck.optimizer.freeze.step = 9;
  CHECK(warning(deck).find("over 10 steps") != std::string::npos);
  deck.optimizer.method = Method::onebit_sgd;  // keeps no variance
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("A freeze before the trust ratios have settled is told") {
  auto deck = settled(Method::onebit_lamb);
  deck.optimizer.coefficient_beta = 0.9995;
  CHECK(warning(deck) ==
        "optimizer.coefficient_beta averages trust ratios over 2000 steps: those that are kept have not settled");
  deck.optimizer.method = Method::onebit_adam;  // has none
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("A freeze in the warmup of the rate is told") {
  auto deck = settled(Method::onebit_sgd);
  deck.schedule.warmup_steps = 1001;
  auto const text = "the rate rises until step 1001 (schedule.warmup_steps): gradients change most while it does";
  CHECK(warning(deck) == text);
  deck.batch.global = 64;
  deck.schedule.legw_baseline_batch = 32;
  CHECK(warning(deck) == text);
}

TEST_CASE("A hierarchy that changes nothing is told") {
  auto deck = settled(Method::onebit_adam);
  comm::Nodes one{.count = 1, .ranks_here = 4, .node_of = {0, 0, 0, 0}, .hosts = {"a"}};
  comm::Nodes const two{.count = 2, .ranks_here = 2, .node_of = {0, 0, 1, 1}, .hosts = {"a", "b"}};
  CHECK(app::node_warnings(deck, one).empty());
  deck.comm.hierarchy = comm::Hierarchy::node;
  CHECK(app::node_warnings(deck, two).empty());
  auto texts = app::node_warnings(deck, one);
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].starts_with("comm.hierarchy: node, but one node holds all 4 ranks: "));
  deck.optimizer.method = Method::lamb;
  texts = app::node_warnings(deck, two);
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].starts_with("comm.hierarchy: node, but optimizer.method compresses nothing"));
}

TEST_CASE("Every reason is told") {
  auto deck = settled(Method::onebit_lamb);
  deck.optimizer.freeze.step = 5;
  CHECK(app::deck_warnings(deck).size() == 3);
}
