// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/input/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using Faults = std::vector<std::string>;

TEST_CASE("An override of the method drops what only the deck's own method takes") {
  DeckFolder const folder;
  auto const source = folder.with_data(
      "optimizer: {method: onebit_lamb}\ncomm: {scale_groups: 3, error_feedback: false}\n", {"optimizer.method=lamb"});
  auto const deck = input::parse_deck(source);
  CHECK_FALSE(deck.comm.scale_groups.has_value());
  CHECK(deck.comm.error_feedback);
  auto const again = input::parse_deck(folder.source(input::resolved_deck(deck, source)));
  CHECK(again.optimizer.method == optim::Method::lamb);
  CHECK(again.comm.error_feedback);
  // Not what would train otherwise than the deck says.
  CHECK(faults_of(folder.with_data("optimizer:\n  bias_correction: true\n", {"optimizer.method=onebit_adam"})) ==
        Faults{
            "deck.yaml:4:20: optimizer.bias_correction: true, but the onebit methods have none; false, or method: lamb "
            "or adamw"});
}

TEST_CASE("Overrides of keys in a map are judged like the deck") {
  DeckFolder const folder;
  auto const judged = [&](std::string const& change) {
    auto const faults = faults_of(folder.with_data("optimizer: {method: onebit_lamb}\n", {change}));
    REQUIRE(faults.size() == 1);
    REQUIRE(faults[0].starts_with("--set " + change + ": "));
    return faults[0].substr(change.size() + 8);
  };
  CHECK(judged("optimizer.freeze=soon") == "unknown value 'soon'; auto or keys step, latest");
  CHECK(judged("optimizer.freeze=") == "nothing is no map of keys; auto or keys step, latest");
  CHECK(judged("optimizer.freeze.stp=3") == "unknown key (did you mean 'step'?); one of step, latest");
  CHECK(judged("optimizer.freeze.step=x").starts_with("'x' is not a number; a whole number"));
  CHECK(judged("optimizer.freeze={stp: 3}") == "stp: unknown key (did you mean 'step'?); one of step, latest");
  CHECK(judged("optimizer.freeze={step: 3, step: 4}") == "step: given again; once a map");
  CHECK(judged("optimizer.freeze={step: x}").starts_with("step: 'x' is not a number; a whole number"));
  CHECK(judged("optimizer.freeze.step=1") == "1 leaves no variance to keep; at least 2 with method: onebit_lamb");
  for (std::string const change :
       {"optimizer.frezee=auto", "optimizer.freez.step=5", "optimizer.frezee.latest=0.5", "optimizer.freez.xyzzy=5"})
    CHECK(judged(change).starts_with("unknown key (did you mean 'freeze'?); one of method, lr"));
  CHECK(judged("comm.freeze.step=5").starts_with("unknown key (section optimizer has one); one of transport"));
  CHECK(judged("optimizer.xyzzy.step=5").starts_with("unknown key; one of method, lr"));
  CHECK(fault_of_override("optimizer.freeze=auto") ==
        "has no meaning here; only with method: onebit_lamb, onebit_adam or onebit_sgd");
  CHECK(fault_of_override("optimizer.freeze.latest=0.5") ==
        "has no meaning here; only with method: onebit_lamb, onebit_adam or onebit_sgd");
  CHECK(faults_of(folder.with_data("optimizer: {method: onebit_lamb}\n",
                                   {"optimizer.freeze=auto", "optimizer.freeze.step=3"})) ==
        Faults{"--set optimizer.freeze.step=3: given again; once a command (--set optimizer.freeze=auto)"});
}

TEST_CASE("An override without a value is refused by itself") {
  DeckFolder const folder;
  for (std::string const change : {"data.train=", "data.train=[]"}) {
    auto const faults = faults_of(folder.source("data:\n  train: nowhere\n", {change}));
    INFO(change);
    REQUIRE_FALSE(faults.empty());
    CHECK(faults.back().starts_with("--set " + change + ": "));
    for (auto const& fault : faults) CHECK(fault.find("--set " + change + ": " + folder.path()) == std::string::npos);
    CHECK(faults.size() == 1);
  }
}

TEST_CASE("Overrides are judged like the deck") {
  CHECK(fault_of_override("optimizer.lr=x") == "'x' is not a number; a number from 0 to 1000000");
  CHECK(fault_of_override("optimizer.lr=") == "nothing is not a number; a number from 0 to 1000000");
  CHECK(fault_of_override("optimizer.lrr=1").starts_with("unknown key (did you mean 'lr'?); one of method, lr"));
  CHECK(fault_of_override("optimiser.lr=1").starts_with("unknown section (did you mean 'optimizer'?); one of run"));
  CHECK(fault_of_override("lr=1") == "not an override; section.key=value");
  CHECK(fault_of_override("optimizer.lr") == "not an override; section.key=value");
  CHECK(fault_of_override("schedule.power=2") == "has no meaning here; only with decay: polynomial");
  CHECK(fault_of_override("model.heads=3") == "256 hidden do not divide into 3 heads; hidden a multiple of heads");
  DeckFolder const folder;
  CHECK(faults_of(folder.with_data("", {"batch.global=8", "batch.global=9"})) ==
        Faults{"--set batch.global=9: given again; once a command (--set batch.global=8)"});
}
