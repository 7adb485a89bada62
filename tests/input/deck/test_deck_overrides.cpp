// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/odd_characters.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using Faults = std::vector<std::string>;

TEST_CASE("An override of the method drops keys that only apply to the deck's method") {
  DeckFolder const folder;
  auto const source = folder.with_data(
      "optimizer: {method: onebit_lamb}\ncomm: {scale_groups: 3, error_feedback: false}\n", {"optimizer.method=lamb"});
  auto const deck = input::parse_deck(source);
  CHECK_FALSE(deck.comm.scale_groups.has_value());
  CHECK(deck.comm.error_feedback);
  auto const again = input::parse_deck(folder.source(input::resolved_deck(deck, source)));
  CHECK(again.optimizer.method == optim::Method::lamb);
  CHECK(again.comm.error_feedback);
  // A key that would change the training is not dropped.
  CHECK(faults_of(folder.with_data("optimizer:\n  bias_correction: true\n", {"optimizer.method=onebit_adam"})) ==
        Faults{"deck.yaml:4:20: optimizer.bias_correction: true, but method: onebit_adam has none; set it to false, or "
               "use method: lamb or adamw"});
}

TEST_CASE("A warning names the keys that are not used with the method of an override") {
  DeckFolder const folder;
  auto const warnings = [&](std::string const& text, std::vector<std::string> overrides) {
    auto const source = folder.with_data(text, std::move(overrides));
    REQUIRE(faults_of(source) == Faults{});
    return input::override_warnings(source);
  };
  std::string const onebit =
      "optimizer: {method: onebit_lamb, max_coefficient: 0.5, freeze: {step: 9}, lr: 0.1}\ncomm: {scale_groups: 3}\n";
  CHECK(warnings(onebit, {"optimizer.method=adamw"}) ==
        Faults{"--set optimizer.method=adamw: these keys of the deck are not used with adamw: "
               "optimizer.max_coefficient, optimizer.freeze, comm.scale_groups"});
  CHECK(warnings(onebit, {"optimizer.lr=1", "optimizer.method=lamb"}) ==
        Faults{"--set optimizer.method=lamb: these keys of the deck are not used with lamb: optimizer.freeze, "
               "comm.scale_groups"});
  std::vector<Faults> const harmless = {
      {}, {"optimizer.lr=1"}, {"optimizer.method=onebit_lamb"}, {"optimizer.method=onebit_lamb", "run.seed=2"}};
  for (auto const& unchanged : harmless) CHECK(warnings(onebit, unchanged).empty());
  CHECK(warnings("optimizer: {lr: 0.1}\n", {"optimizer.method=adamw"}).empty());
  // The other key of the group takes the place of this one.
  CHECK(warnings("optimizer: {method: onebit_lamb, freeze: {latest: 0.5}}\n",
                 {"optimizer.method=onebit_sgd", "optimizer.freeze.step=3"})
            .empty());
}

TEST_CASE("Overrides of keys in a group are checked like the deck") {
  DeckFolder const folder;
  auto const fault_of = [&](std::string const& change) {
    auto const faults = faults_of(folder.with_data("optimizer: {method: onebit_lamb}\n", {change}));
    REQUIRE(faults.size() == 1);
    REQUIRE(faults[0].starts_with("--set " + change + ": "));
    return faults[0].substr(change.size() + 8);
  };
  CHECK(fault_of("optimizer.freeze=soon") == "unknown value 'soon'; allowed: auto or keys step, latest");
  CHECK(fault_of("optimizer.freeze=") == "nothing is not a map of keys; allowed: auto or keys step, latest");
  CHECK(fault_of("optimizer.freeze.stp=3") == "unknown key (did you mean 'step'?); one of step, latest");
  CHECK(fault_of("optimizer.freeze.step=x").starts_with("'x' is not a number; allowed: a whole number"));
  CHECK(fault_of("optimizer.freeze={stp: 3}") == "stp: unknown key (did you mean 'step'?); one of step, latest");
  CHECK(fault_of("optimizer.freeze={step: 3, step: 4}") == "step: given again; allowed: once per map");
  CHECK(fault_of("optimizer.freeze={step: x}").starts_with("step: 'x' is not a number; allowed: a whole number"));
  CHECK(fault_of("optimizer.freeze.step=1") == "1 leaves no variance to freeze; at least 2 with method: onebit_lamb");
  for (std::string const change :
       {"optimizer.frezee=auto", "optimizer.freez.step=5", "optimizer.frezee.latest=0.5", "optimizer.freez.xyzzy=5"})
    CHECK(fault_of(change).starts_with("unknown key (did you mean 'freeze'?); one of method, lr"));
  CHECK(fault_of("comm.freeze.step=5").starts_with("unknown key (section optimizer has this key); one of transport"));
  CHECK(fault_of("optimizer.xyzzy.step=5").starts_with("unknown key; one of method, lr"));
  CHECK(fault_of_override("optimizer.freeze=auto") ==
        "does not apply here; only with method: onebit_lamb, onebit_adam or onebit_sgd");
  CHECK(fault_of_override("optimizer.freeze.latest=0.5") ==
        "does not apply here; only with method: onebit_lamb, onebit_adam or onebit_sgd");
  CHECK(faults_of(folder.with_data("optimizer: {method: onebit_lamb}\n",
                                   {"optimizer.freeze=auto", "optimizer.freeze.step=3"})) ==
        Faults{"--set optimizer.freeze.step=3: given again; allowed: once per command (--set optimizer.freeze=auto)"});
}

TEST_CASE("An override without a value is its only fault") {
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

TEST_CASE("Overrides are checked like the deck") {
  CHECK(fault_of_override("optimizer.lr=x") == "'x' is not a number; allowed: a number from 0 to 1000000");
  CHECK(fault_of_override("optimizer.lr=") == "nothing is not a number; allowed: a number from 0 to 1000000");
  CHECK(fault_of_override("optimizer.lrr=1").starts_with("unknown key (did you mean 'lr'?); one of method, lr"));
  CHECK(fault_of_override("optimiser.lr=1").starts_with("unknown section (did you mean 'optimizer'?); one of run"));
  CHECK(fault_of_override("lr=1") == "not an override; allowed: section.key=value");
  CHECK(fault_of_override("optimizer.lr") == "not an override; allowed: section.key=value");
  CHECK(fault_of_override("schedule.power=2") == "does not apply here; only with decay: polynomial");
  CHECK(fault_of_override("model.heads=3") ==
        "256 hidden units cannot be split into 3 heads; model.hidden must be a multiple of model.heads");
  DeckFolder const folder;
  CHECK(faults_of(folder.with_data("", {"batch.global=8", "batch.global=9"})) ==
        Faults{"--set batch.global=9: given again; allowed: once per command (--set batch.global=8)"});
}

TEST_CASE("The value of an override is read completely") {
  DeckFolder const folder;
  auto const name = [&](std::string const& value) {
    INFO(value);
    auto const source = folder.with_data("", {"run.name=" + value});
    REQUIRE(faults_of(source) == Faults());
    return parse_deck(source).run.name;
  };
  for (std::string const value : {"run #2", "#2",      "a: b", "a: b: c",   "x # y",  "&a",   "&a b", "*a",
                                  "!x",     "!!str y", "%",    "%YAML 1.2", "@x",     "`x`",  "- a",  "? a",
                                  "|",      ">",       "---",  "--- a",     "...",    "a, b", "a]",   "}",
                                  "yes",    "2026",    "it's", "a \"b\" c", "<<: *a", "key:", ": x",  "=",
                                  "a=b",    "a\tb",    "~x",   "nul",       "1e3",    "\\n",  "C:\\x"})
    CHECK(name(value) == value);
  CHECK(name("\"x # y\"") == "x # y");
  CHECK(name("'a: b'") == "a: b");
  CHECK(name("\"[x] #\"") == "[x] #");
  CHECK(name(" \"  x \" ") == "  x ");
  CHECK(name("\"null\"") == "null");
  CHECK(name("'~'") == "~");
  auto const directory = [&](std::string const& value) {
    return parse_deck(folder.with_data("", {"run.directory=" + value})).run.directory;
  };
  CHECK(directory("run #2") == folder.path() + "/run #2");
  CHECK(directory("run#2") == folder.path() + "/run#2");
  CHECK(directory("'run '") == folder.path() + "/run ");
  auto const lists = folder.with_data("", {"data.train=[shards/train, 'shards/a.h5']", "data.heldout=shards/heldout"});
  CHECK(parse_deck(lists).data.train == std::vector{folder.path() + "/shards/train", folder.path() + "/shards/a.h5"});
  CHECK(parse_deck(folder.with_data("", {"data.train=[\n  \"shards/train\"\n]"})).data.train.size() == 1);
  // Blanks around a value that is not a text are ignored.
  CHECK(parse_deck(folder.with_data("", {"batch.global= 8 ", "optimizer.method= adamw"})).batch.global == 8);
}

TEST_CASE("An override whose value would lose a part is rejected") {
  auto const refused = [](std::string const& change) {
    DeckFolder const folder;
    auto const faults = faults_of(folder.with_data("optimizer: {method: onebit_lamb}\n", {change}));
    INFO(change);
    REQUIRE(faults.size() == 1);
    auto const begin = "--set " + input::with_codes(change) + ": ";
    REQUIRE(faults[0].starts_with(begin));
    return faults[0].substr(begin.size());
  };
  std::string const rest =
      "; a value that begins with [, {, ' or \" is read as YAML; a text in quotes may hold any characters";
  for (std::string const value :
       {"\"x\" # y", "'x' # y", "'x' y", "'x' 'y'", "\"x\"\ny", "'a', 'b'", "\"x\"\n---\ny"}) {
    auto const what = refused("run.name=" + value);
    INFO(value << " -> " << what);
    CHECK((what.starts_with("YAML would ignore the end of the value") || what.starts_with("not YAML: ") ||
           what.starts_with("more than one value")));
  }
  CHECK(refused("run.name=\"x\" # y") ==
        "YAML would ignore the end of the value; # after a blank begins a comment" + rest);
  CHECK(refused("data.train=[shards/train] #2").starts_with("YAML would ignore the end of the value; # after a blank"));
  CHECK(refused("data.train=[shards/a.h5, # one\nshards/train]")
            .starts_with("YAML would ignore the end of the value; # after"));
  CHECK(refused("data.train=[shards/train #2]").find("# after a blank begins a comment") != std::string::npos);
  CHECK(refused("data.train=[shards/train] x") == "more than one value" + rest);
  CHECK(refused("data.train=[&a shards/train]") == "an anchor; write the value out where it is used");
  CHECK(refused("data.train=[shards/train]]").starts_with("not YAML: "));
  CHECK(refused("optimizer.freeze={step: 3} #").starts_with("YAML would ignore the end of the value"));
  CHECK(refused("optimizer.freeze={step: 3").starts_with("not YAML: "));
  CHECK(refused("optimizer.freeze=step: 3") == "unknown value 'step: 3'; allowed: auto or keys step, latest");
  CHECK(refused("run.name=[draft]") == "a list is not a text; allowed: a text");
  CHECK(refused("run.name={a: b}") == "keys with values is not a text; allowed: a text");
  CHECK(refused("run.name='tis").ends_with(rest));
  CHECK(refused("run.name=") == "no value; allowed: a text");
  CHECK(refused("run.name=  ") == "no value; allowed: a text");
  CHECK(refused("run.name=null") == "'null' means no value; allowed: a text");
  CHECK(refused("run.name=~") == "'~' means no value; allowed: a text");
  CHECK(refused("run.name=''") == "an empty text; allowed: a text");
  CHECK(refused("run.directory=run ") == "'run' has blanks around it; remove them or add quotes; allowed: a text");
  CHECK(refused("run.directory=\trun").starts_with("'run' has blanks around it"));
  CHECK(refused("run.name=a\nb") == "a line break in the value; write \"\\n\" in double quotes");
  CHECK(refused("batch.global=8 # x") == "'8 # x' is not a number; allowed: a whole number from 1 to 16777216");
  CHECK(refused("run.directory=run\r") ==
        "character 4 of the value: U+000D (carriage return) without a line feed after it; end lines with a line feed, "
        "and delete it elsewhere");
  CHECK(refused("run.name=a\x1b[1m") == "character 2 of the value: control character U+001B (escape); delete it");
}
