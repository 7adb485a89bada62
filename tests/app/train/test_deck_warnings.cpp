// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/deck_warnings.hpp"
#include "comm/transport/world.hpp"
#include "input/deck/deck.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using optim::Method;

namespace {

/// Returns a deck without warnings.
input::Deck settled(Method method) {
  input::Deck deck;
  deck.optimizer.method = method;
  deck.optimizer.freeze.step = 1000;
  deck.schedule.steps = 5000;
  deck.schedule.warmup_steps = 1000;
  return deck;
}

/// Returns the same deck with a freeze that the program chooses: at the latest after `latest` of 5000 steps.
input::Deck chosen(Method method, double latest) {
  auto deck = settled(method);
  deck.optimizer.freeze.step.reset();
  deck.optimizer.freeze.latest = latest;
  return deck;
}

/// Returns the only warning, without `subject`.
std::string warning(input::Deck const& deck, std::string const& subject) {
  auto const texts = app::deck_warnings(deck);
  REQUIRE(texts.size() == 1);
  REQUIRE(texts[0].starts_with(subject));
  return texts[0].substr(subject.size());
}

/// Returns the only warning, without the key and its value.
std::string warning(input::Deck const& deck) {
  return warning(deck, "optimizer.freeze.step: " + std::to_string(deck.optimizer.freeze.step.value()) + ", but ");
}

}  // namespace

TEST_CASE("A late freeze causes no warning") {
  for (auto const method : {Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd})
    CHECK(app::deck_warnings(settled(method)).empty());
  CHECK(app::deck_warnings(input::Deck()).empty());
}

TEST_CASE("A run directory with a pattern of a batch system causes a warning") {
  auto deck = settled(Method::lamb);
  deck.run.directory = "/work/run_50%/a";
  CHECK(app::deck_warnings(deck).empty());
  deck.run.directory = "/work/run_%A_%a";
  CHECK(warning(deck, "run.directory: '/work/run_%A_%a' holds %A, ") ==
        "which a batch system replaces only in its own options: all jobs use one folder of exactly this name; leave %A "
        "out, or write --set run.directory=run_$SLURM_JOB_ID in the job script");
}

TEST_CASE("A freeze that the program may choose late enough causes no warning") {
  for (auto const method : {Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd})
    for (double const latest : {0.2, 0.25}) CHECK(app::deck_warnings(chosen(method, latest)).empty());
  // The freeze may never happen, or only after everything has settled.
  CHECK(app::deck_warnings(chosen(Method::onebit_lamb, 1)).empty());
}

TEST_CASE("A chosen freeze before everything has settled causes a warning") {
  auto const subject = "optimizer.freeze.latest: 0.1999 of 5000 steps is step 1000, but ";
  auto deck = chosen(Method::onebit_adam, 0.1999);
  CHECK(app::deck_warnings(deck).empty());  // 999.5
  deck.optimizer.beta2 = 0.9991;
  CHECK(warning(deck, subject) ==
        "optimizer.beta2 averages the variance over 1112 steps: the frozen variance has not settled");
  deck.optimizer.method = Method::onebit_sgd;  // freezes no averages
  CHECK(app::deck_warnings(deck).empty());
  deck = chosen(Method::onebit_lamb, 0.1999);
  deck.optimizer.coefficient_beta = 0.9995;
  CHECK(warning(deck, subject) ==
        "optimizer.coefficient_beta averages trust ratios over 2000 steps: the frozen ratios have not settled");
  deck.optimizer.coefficient_beta = 0.9;
  deck.schedule.warmup_steps = 1001;
  for (auto const method : {Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd}) {
    deck.optimizer.method = method;
    CHECK(warning(deck, subject).starts_with("the learning rate rises until step 1001 (schedule.warmup_steps)"));
  }
  // The default settings, in a run that is too short for them.
  input::Deck brief;
  brief.optimizer.method = Method::onebit_lamb;
  CHECK(warning(brief, "optimizer.freeze.latest: 0.25 of 1000 steps is step 250, but ").starts_with("optimizer.beta2"));
}

TEST_CASE("A freeze earlier than the memory of the variance causes a warning") {
  for (auto const method : {Method::onebit_lamb, Method::onebit_adam})
    for (double const beta2 : {0.9, 0.98, 0.99, 0.995, 0.999})
      for (std::int64_t const steps : {10, 39, 40, 41, 200, 799, 4001})
        for (double const latest : {0.001, 0.07, 0.1, 0.25, 0.5}) {
          auto deck = chosen(method, latest);
          deck.schedule = {.steps = steps, .warmup_steps = 0};
          deck.optimizer.beta2 = beta2;
          deck.optimizer.coefficient_beta = 0;
          auto const at = static_cast<double>(deck.optimizer.freeze.latest_step(steps));
          INFO(beta2 << " " << steps << " " << latest << ": " << at);
          CHECK(app::deck_warnings(deck).size() == (at * (1 - beta2) < 1 - 1e-9 ? 1 : 0));
        }
}

TEST_CASE("A chosen freeze that never happens causes a warning") {
  auto deck = chosen(Method::onebit_adam, 1);
  deck.schedule = {.steps = 1000, .warmup_steps = 0};
  auto const subject = "optimizer.freeze.latest: 1 of 1000 steps is step 1000, but ";
  CHECK(warning(deck, subject) == "schedule.steps is 1000: nothing is ever compressed, plain AdamW to the end");
  deck.optimizer.beta2 = 0.99;
  CHECK(app::deck_warnings(deck).empty());
  deck.optimizer.method = Method::onebit_sgd;
  CHECK(warning(deck, subject).ends_with("plain SGD with momentum to the end"));
}

TEST_CASE("A freeze that never happens causes a single warning") {
  auto deck = settled(Method::onebit_lamb);
  deck.schedule.steps = 1000;
  deck.optimizer.beta2 = 0.99999;
  CHECK(warning(deck) == "schedule.steps is 1000: nothing is ever compressed, plain LAMB to the end");
  deck.optimizer.method = Method::onebit_adam;
  CHECK(warning(deck).ends_with("plain AdamW to the end"));
  deck.optimizer.method = Method::onebit_sgd;
  CHECK(warning(deck).ends_with("plain SGD with momentum to the end"));
}

TEST_CASE("A freeze before the variance has settled causes a warning") {
  auto deck = settled(Method::onebit_adam);
  deck.schedule.warmup_steps = 0;
  deck.optimizer.freeze.step = 999;
  CHECK(warning(deck) == "optimizer.beta2 averages the variance over 1000 steps: the frozen variance has not settled");
  // 1 - 0.9 is not exactly a tenth in binary.
  deck.optimizer.beta2 = 0.9;
  deck.optimizer.freeze.step = 10;
  CHECK(app::deck_warnings(deck).empty());
  deck.optimizer.freeze.step = 9;
  CHECK(warning(deck).find("over 10 steps") != std::string::npos);
  deck.optimizer.method = Method::onebit_sgd;  // freezes no variance
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("A freeze before the trust ratios have settled causes a warning") {
  auto deck = settled(Method::onebit_lamb);
  deck.optimizer.coefficient_beta = 0.9995;
  CHECK(warning(deck) ==
        "optimizer.coefficient_beta averages trust ratios over 2000 steps: the frozen ratios have not settled");
  deck.optimizer.method = Method::onebit_adam;  // has no trust ratios
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("A freeze during learning-rate warmup causes a warning") {
  auto deck = settled(Method::onebit_sgd);
  deck.schedule.warmup_steps = 1001;
  auto const text =
      "the learning rate rises until step 1001 (schedule.warmup_steps): gradients change most during warmup";
  CHECK(warning(deck) == text);
  deck.batch.global = 64;
  deck.schedule.legw_baseline_batch = 32;
  CHECK(warning(deck) == text);
}

TEST_CASE("The shipped decks cause no warnings") {
  DeckFolder const folder;
  int checked = 0;
  for (auto const& entry : std::filesystem::directory_iterator(BELLWETHER_SOURCE_ROOT "/input/decks")) {
    INFO(entry.path().string());
    auto source = input::read_deck_source(entry.path().string(), {});
    source.folder = folder.path();
    auto deck = input::parse_deck(source);
    CHECK(app::deck_warnings(deck).empty());
    deck.optimizer.freeze.step.reset();
    CHECK(app::deck_warnings(deck).empty());
    checked += optim::compresses(deck.optimizer.method);
  }
  CHECK(checked >= 2);
}

TEST_CASE("A hierarchy without effect causes a warning") {
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

TEST_CASE("Every reason causes a warning") {
  auto deck = settled(Method::onebit_lamb);
  deck.optimizer.freeze.step = 5;
  CHECK(app::deck_warnings(deck).size() == 3);
}

TEST_CASE("A learning rate of 0 at every step causes a warning") {
  input::Deck deck;
  deck.optimizer.lr = 0;
  CHECK(app::deck_warnings(deck) ==
        std::vector<std::string>{"optimizer.lr: 0: the learning rate is 0 at every step, so that no parameter ever "
                                 "changes; set it above 0"});
  deck.schedule.warmup_steps = 2000;  // more than the 1000 steps of the run
  CHECK(app::deck_warnings(deck).size() == 1);
  deck.schedule.offset = 1e-6;  // added to every rate
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("A single step at the end of the decay causes a warning") {
  using optim::Decay;
  input::Deck deck;
  deck.schedule.steps = 1;
  for (auto const decay : {Decay::linear, Decay::polynomial, Decay::cosine}) {
    deck.schedule.decay = decay;
    CHECK(warning(deck, "schedule.steps: 1: ") ==
          "the decay ends at a learning rate of 0, so that the only step changes no parameter; take more steps, or "
          "set schedule.final_fraction above 0");
  }
  for (auto const decay : {Decay::constant, Decay::exponential}) {
    deck.schedule.decay = decay;
    CHECK(app::deck_warnings(deck).empty());
  }
  deck.schedule = {.steps = 1, .final_fraction = 0.1};
  CHECK(app::deck_warnings(deck).empty());
  deck.schedule = {.steps = 1, .warmup_steps = 1};
  CHECK(app::deck_warnings(deck).empty());
  deck.schedule = {.steps = 2};
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("Nesterov and step-ahead together cause a warning") {
  auto deck = settled(Method::onebit_lamb);
  deck.optimizer.nesterov = true;
  auto const texts = app::deck_warnings(deck);
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].starts_with("optimizer.nesterov: true with optimizer.step_ahead: 1: "));
  deck.optimizer.step_ahead = 0;
  CHECK(app::deck_warnings(deck).empty());
  deck.optimizer.step_ahead = 1;
  deck.optimizer.exchange = optim::Exchange::momentum;  // exchanges momentum: neither setting has an effect
  CHECK(app::deck_warnings(deck).empty());
}

TEST_CASE("bf16 products on a CPU without them cause a warning") {
  input::Deck deck;
  deck.model.compute = ComputeType::bf16;
  auto const texts = app::deck_warnings(deck);
  if (has_bf16_products())
    CHECK(texts.empty());
  else
    CHECK(texts.at(0).starts_with("model.compute: bf16"));
}
