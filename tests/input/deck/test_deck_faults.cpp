// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using Faults = std::vector<std::string>;

namespace {

/// Returns the one fault of a deck made of `text` after a valid `data` section, without the deck's name.
std::string fault(std::string const& text) {
  DeckFolder const folder;
  auto const faults = faults_of(folder.with_data(text));
  REQUIRE(faults.size() == 1);
  REQUIRE(faults[0].starts_with("deck.yaml:"));
  return faults[0].substr(10);
}

}  // namespace

TEST_CASE("Unknown keys and sections are rejected with a suggestion") {
  CHECK(fault("batch:\n  globl: 3\n") ==
        "4:3: batch.globl: unknown key (did you mean 'global'?); one of global, micro");
  CHECK(fault("batch:\n  lr: 3\n") ==
        "4:3: batch.lr: unknown key (section optimizer has this key); one of global, micro");
  CHECK(fault("optimizer:\n  look_ahead: 1\n") ==
        "4:3: optimizer.look_ahead: renamed to 'step_ahead'; write 'step_ahead', its values are the same");
  CHECK(fault("optimizer:\n  kept_variance: whole\n") ==
        "4:3: optimizer.kept_variance: renamed to 'frozen_variance'; write 'frozen_variance', its values are the same");
  CHECK(fault("batch:\n  xyzzy: 3\n") == "4:3: batch.xyzzy: unknown key; one of global, micro");
  CHECK(fault("optimiser:\n  lr: 1\n") ==
        "3:1: optimiser: unknown key (did you mean 'optimizer'?); one of run, data, batch, model, optimizer, schedule, "
        "comm, checkpoint, statistics");
  CHECK(fault("<<: {a: 1}\n").starts_with("3:1: <<: unknown key; one of run"));
}

TEST_CASE("A value of a wrong type is rejected") {
  CHECK(fault("batch:\n  global: many\n") ==
        "4:11: batch.global: 'many' is not a number; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: 1.5\n") ==
        "4:11: batch.global: '1.5' is not a whole number; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: \"32\"\n") ==
        "4:11: batch.global: the text '32' in quotes is not a number; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: [1, 2]\n") ==
        "4:11: batch.global: a list is not a number; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: {a: 1}\n") ==
        "4:11: batch.global: keys with values is not a number; allowed: a whole number from 1 to 16777216");
  CHECK(fault("optimizer:\n  lr: fast\n") ==
        "4:7: optimizer.lr: 'fast' is not a number; allowed: a number from 0 to 1000000");
  CHECK(fault("optimizer:\n  method: lam\n") ==
        "4:11: optimizer.method: unknown value 'lam' (did you mean 'lamb'?); one of lamb, adamw, sgd, "
        "onebit_lamb, onebit_adam, onebit_sgd");
  CHECK(fault("optimizer:\n  method: [lamb]\n") ==
        "4:11: optimizer.method: a list is not a word; allowed: one of lamb, adamw, sgd, onebit_lamb, "
        "onebit_adam, onebit_sgd");
  CHECK(fault("run:\n  name: [a]\n") == "4:9: run.name: a list is not a text; allowed: a text");
  CHECK(fault("run:\n  name: ''\n") == "4:9: run.name: an empty text; allowed: a text");
  CHECK(fault("run:\n  walltime: 3:50\n") ==
        "4:13: run.walltime: '3:50' is not a time; allowed: a time H:MM:SS or D-HH:MM:SS from 0:00:01 to 999-23:59:59, "
        "or null");
  for (std::string const time : {"0:00:00", "1:60:00", "1-24:00:00", "1000-00:00:00"})
    CHECK(fault("run:\n  walltime: " + time + "\n") ==
          "4:13: run.walltime: '" + time +
              "' is out of range; allowed: a time H:MM:SS or D-HH:MM:SS from 0:00:01 to 999-23:59:59, or null");
  CHECK(fault("batch: 3\n") == "3:8: batch: not a section; allowed: keys with values, one per line, indented");
  CHECK(fault("data2: 1\n").starts_with("3:1: data2: unknown key (did you mean 'data'?)"));
}

TEST_CASE("Words that YAML readers interpret differently are rejected") {
  for (std::string const word : {"yes", "no", "on", "off", "True", "1", "y"})
    CHECK(fault("optimizer:\n  bias_correction: " + word + "\n") ==
          "4:20: optimizer.bias_correction: '" + word + "' is not a truth value; allowed: true or false");
  CHECK(fault("batch:\n  global: 010\n") ==
        "4:11: batch.global: '010' begins with 0, which some readers take for octal; allowed: a whole number from 1 to "
        "16777216");
  for (std::string const word : {"0x10", "0o10", "1_000", "1,000", "1:30", "١٢"})
    CHECK(fault("batch:\n  global: " + word + "\n") ==
          "4:11: batch.global: '" + word + "' is not a number; allowed: a whole number from 1 to 16777216");
  for (std::string const word : {"null", "~", "Null", "NULL"})
    CHECK(fault("batch:\n  global: " + word + "\n")
              .ends_with(" is not a number; allowed: a whole number from 1 to 16777216"));
  CHECK(fault("batch:\n  global:\n")
            .ends_with(": batch.global: nothing is not a number; allowed: a whole number from 1 to 16777216"));
  CHECK(fault("run:\n  name: null\n") == "4:9: run.name: 'null' means no value; allowed: a text");
}

TEST_CASE("Numbers out of range or not finite are rejected") {
  CHECK(fault("batch:\n  global: 0\n") ==
        "4:11: batch.global: '0' is out of range; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: -5\n") ==
        "4:11: batch.global: '-5' is out of range; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: 99999999999999999999\n") ==
        "4:11: batch.global: '99999999999999999999' is out of range; allowed: a whole number from 1 to 16777216");
  CHECK(fault("batch:\n  global: 1e300\n") ==
        "4:11: batch.global: '1e300' is out of range; allowed: a whole number from 1 to 16777216");
  CHECK(fault("optimizer:\n  beta1: 1\n") ==
        "4:10: optimizer.beta1: '1' is out of range; allowed: a number of at least 0 and less than 1");
  CHECK(fault("optimizer:\n  epsilon: 0\n") ==
        "4:12: optimizer.epsilon: '0' is out of range; allowed: a number greater than 0 and at most 1");
  for (std::string const word : {".inf", "-.inf", ".nan", ".NaN", "inf", "nan", "Infinity"})
    CHECK(fault("optimizer:\n  lr: " + word + "\n") ==
          "4:7: optimizer.lr: '" + word + "' is not finite; allowed: a number from 0 to 1000000");
  CHECK(fault("optimizer:\n  lr: 1e999\n") ==
        "4:7: optimizer.lr: '1e999' is not finite as a double; allowed: a number from 0 to 1000000");
  CHECK(fault("optimizer:\n  lr: 1e-999\n") ==
        "4:7: optimizer.lr: '1e-999' is too small for a double; allowed: a number from 0 to 1000000");
}

TEST_CASE("A repeated key is rejected") {
  CHECK(fault("batch:\n  global: 32\n  micro: 4\n  global: 64\n") ==
        "6:3: batch.global: given again; allowed: once per file (line 4)");
  CHECK(fault("batch:\n  global: 32\nbatch:\n  micro: 4\n") ==
        "5:1: batch: given again; allowed: once per file (line 3)");
}

TEST_CASE("Keys that contradict each other are rejected") {
  CHECK(fault("model:\n  hidden: 258\n") ==
        "4:11: model.hidden: 258 hidden units cannot be split into 4 heads; model.hidden must be a multiple of "
        "model.heads");
  CHECK(fault("model:\n  hidden: 258\n  heads: 4\n").starts_with("5:10: model.heads: 258 hidden"));
  CHECK(fault("optimizer:\n  min_coefficient: 0.5\n") ==
        "4:20: optimizer.min_coefficient: 0.5 is above max_coefficient; at most 0.3");
  CHECK(fault("optimizer:\n  min_coefficient: 0.5\n  max_coefficient: 0.25\n") ==
        "5:20: optimizer.max_coefficient: 0.25 is below min_coefficient; at least 0.5");
  CHECK(fault("schedule:\n  steps: 10\n  warmup_steps: 11\n") ==
        "5:17: schedule.warmup_steps: 11 is more than schedule.steps; at most 10");
  CHECK(fault("schedule:\n  legw_baseline_batch: 32\n") ==
        "4:24: schedule.legw_baseline_batch: LEGW needs warmup; set schedule.warmup_steps to those of the tuned "
        "baseline");
  CHECK(fault("schedule:\n  legw_baseline_batch: 32\n  warmup_steps: 5\n  warmup: quadratic\n") ==
        "6:11: schedule.warmup: quadratic, but LEGW warms up linearly; linear with schedule.legw_baseline_batch");
  CHECK(fault("comm:\n  dense_wire: bf16\n  allreduce: library\n") ==
        "4:15: comm.dense_wire: bf16, but comm.allreduce: library sums fp32 only; fp32, or comm.allreduce: ordered");
}

TEST_CASE("Contradicting keys of a compressing method are rejected") {
  std::string const lamb = "optimizer:\n  method: onebit_lamb\n";
  for (std::string const method : {"onebit_lamb", "onebit_adam"})
    for (std::string const step : {"0", "1"})
      CHECK(fault("optimizer:\n  method: " + method + "\n  freeze:\n    step: " + step + "\n") ==
            "6:11: optimizer.freeze.step: " + step +
                " leaves no variance to freeze; at least 2 with method: " + method);
  DeckFolder const folder;
  for (std::string const text : {"{method: onebit_lamb, freeze: {step: 2}}", "{method: onebit_sgd, freeze: {step: 0}}",
                                 "{method: onebit_sgd, freeze: {step: 1}}", "{method: onebit_adam, freeze: auto}"})
    CHECK(faults_of(folder.with_data("optimizer: " + text + "\ncomm: {allreduce: library}\n")) == Faults());
  CHECK(fault(lamb + "  min_coefficient: 0.5\n") ==
        "5:20: optimizer.min_coefficient: 0.5 is above max_coefficient; at most 0.3");
  std::string const steered = lamb + "  steer: variance\n";
  CHECK(fault(steered + "  factor_min: 5\n") == "6:15: optimizer.factor_min: 5 is above factor_max; at most 4");
  CHECK(fault(steered + "  factor_min: 2\n  factor_max: 1.5\n") ==
        "7:15: optimizer.factor_max: 1.5 is below factor_min; at least 2");
  CHECK(fault(steered + "  factor_min: 2\n") == "6:15: optimizer.factor_min: 2, but the factor begins at 1; at most 1");
  CHECK(fault(steered + "  factor_max: 0.75\n") ==
        "6:15: optimizer.factor_max: 0.75, but the factor begins at 1; at least 1");
  CHECK(faults_of(DeckFolder().with_data(lamb + "  max_coefficient: 0.2\n", {"optimizer.min_coefficient=20"})) ==
        Faults{"--set optimizer.min_coefficient=20: 20 is above max_coefficient; at most 0.2"});
  CHECK(fault(lamb + "  factor_min: 2\n") ==
        "5:3: optimizer.factor_min: does not apply here; only with steer: variance");
  CHECK(fault(lamb + "  unify: layer\n  gradient_limit: 1\n") ==
        "6:3: optimizer.gradient_limit: does not apply here; only with unify: element");
  CHECK(fault(lamb + "  exchange: momentum\n  nesterov: true\n") ==
        "6:3: optimizer.nesterov: does not apply here; only with exchange: gradient");
  CHECK(fault(lamb + "  sketch_columns: 200\n") == "5:19: optimizer.sketch_columns: 200 columns; a multiple of 128");
  CHECK(faults_of(folder.with_data(lamb + "  sketch_columns: 256\n")) == Faults());
}

TEST_CASE("A mistyped choice is reported without the keys that depend on it") {
  std::string const rest = "  freeze: {step: 5}\n  steer: norm\n  unify: element\ncomm: {error_feedback: false}\n";
  CHECK(fault("optimizer:\n  method: onebit-lamb\n" + rest)
            .starts_with("4:11: optimizer.method: unknown value 'onebit-lamb'"));
  DeckFolder const folder;
  auto const overridden = folder.with_data("optimizer: {method: onebit_adam}\ncomm: {error_feedback: false}\n",
                                           {"optimizer.method=onebit-lamb"});
  CHECK(faults_of(overridden).size() == 1);
}

TEST_CASE("Settings that the chosen method would ignore are rejected") {
  DeckFolder const folder;
  for (std::string const method : {"onebit_lamb", "onebit_adam", "onebit_sgd"}) {
    auto const text = "optimizer:\n  method: " + method + "\n  bias_correction: ";
    CHECK(fault(text + "true\n") == "5:20: optimizer.bias_correction: true, but method: " + method +
                                        " has none; set it to false, or use method: " + "lamb or adamw");
    CHECK(faults_of(folder.with_data(text + "false\ncomm: {scale_groups: 7, error_feedback: false}\n")) == Faults());
  }
  CHECK(
      fault("optimizer:\n  method: sgd\n  bias_correction: true\n") ==
      "5:20: optimizer.bias_correction: true, but method: sgd has none; set it to false, or use method: lamb or adamw");
  std::string const meaningless =
      "does not apply here; only with optimizer.method: onebit_lamb, onebit_adam or onebit_sgd";
  for (std::string const method : {"lamb", "adamw"}) {
    auto const text = "optimizer: {method: " + method + ", bias_correction: true}\ncomm:\n  ";
    CHECK(fault(text + "error_feedback: false\n") == "5:3: comm.error_feedback: " + meaningless);
    for (std::string const groups : {"1", "4", "many"})
      CHECK(fault(text + "scale_groups: " + groups + "\n") == "5:3: comm.scale_groups: " + meaningless);
    // A deck may write out defaults.
    CHECK(faults_of(folder.with_data(text + "error_feedback: true\n  scale_groups: null\n")) == Faults());
    CHECK(faults_of(folder.with_data(text + "scale_groups:\n")) == Faults());
  }
  CHECK(fault_of_override("comm.error_feedback=false") == meaningless);
  CHECK(fault_of_override("comm.scale_groups=1") == meaningless);
  CHECK(faults_of(folder.with_data("", {"comm.scale_groups=null", "comm.error_feedback=true"})) == Faults());
}

TEST_CASE("Keys of a group are written in a map") {
  std::string const lamb = "optimizer:\n  method: onebit_lamb\n";
  CHECK(fault(lamb + "  freeze: soon\n") ==
        "5:11: optimizer.freeze: unknown value 'soon'; allowed: auto or keys step, latest");
  CHECK(fault(lamb + "  freeze: 200\n") ==
        "5:11: optimizer.freeze: unknown value '200'; allowed: auto or keys step, latest");
  CHECK(fault(lamb + "  freeze: [200]\n") ==
        "5:11: optimizer.freeze: a list is not a map of keys; allowed: auto or keys step, latest");
  CHECK(fault(lamb + "  freeze:\n")
            .ends_with(": optimizer.freeze: nothing is not a map of keys; allowed: auto or keys step, latest"));
  CHECK(fault(lamb + "  freeze:\n    stp: 200\n") ==
        "6:5: optimizer.freeze.stp: unknown key (did you mean 'step'?); one of step, latest");
  CHECK(fault(lamb + "  freeze: {lr: 200}\n") ==
        "5:12: optimizer.freeze.lr: unknown key (section optimizer has this key); one of step, latest");
  CHECK(fault(lamb + "  freeze: {step: x}\n") ==
        "5:18: optimizer.freeze.step: 'x' is not a number; allowed: a whole number from 0 to 1000000000000 (steps), or "
        "null");
  CHECK(fault(lamb + "  freeze:\n    step: 5\n    step: 6\n") ==
        "7:5: optimizer.freeze.step: given again; allowed: once per file (line 6)");
  CHECK(fault(lamb + "  freeze: {step: 5}\n  freeze: auto\n") ==
        "6:3: optimizer.freeze: given again; allowed: once per file (line 5)");
  CHECK(fault(lamb + "  freeze: {step: 5, latest: 0.5}\n") ==
        "5:21: optimizer.freeze.latest: does not apply here; only with freeze: auto");
  for (std::string const value : {"auto", "{step: 5}", "{latest: 0.5, step: 5}"})
    CHECK(fault("optimizer:\n  freeze: " + value + "\n") ==
          "4:3: optimizer.freeze: does not apply here; only with method: onebit_lamb, onebit_adam or onebit_sgd");
  CHECK(fault(lamb + "  freeze.step: 5\n")
            .starts_with("5:3: optimizer.freeze.step: unknown key (a map in the deck: 'freeze: {step: ...}'); one of"));
  CHECK(fault(lamb + "  freez.step: 5\n")
            .starts_with("5:3: optimizer.freez.step: unknown key (did you mean 'freeze'?); "));
  CHECK(fault(lamb + "  latest: 5\n")
            .starts_with("5:3: optimizer.latest: unknown key (optimizer.freeze has this key); "));
  DeckFolder const folder;
  CHECK(faults_of(folder.with_data(lamb + "  freeze:\n    stp: 200\n    latest: 2\n  lr: x\n")).size() == 3);
}

TEST_CASE("A key that does not apply to the chosen value is rejected") {
  CHECK(fault("schedule:\n  decay: cosine\n  power: 2\n") ==
        "5:3: schedule.power: does not apply here; only with decay: polynomial");
  CHECK(fault("schedule:\n  decay_rate: 0.5\n  decay: exponential\n  final_fraction: 0.1\n") ==
        "6:3: schedule.final_fraction: does not apply here; only with decay: linear, polynomial or cosine");
  CHECK(fault("schedule:\n  warmup: quadratic\n") ==
        "4:3: schedule.warmup: does not apply here; only with warmup_steps above 0");
  CHECK(fault("optimizer:\n  method: adamw\n  max_coefficient: 1\n") ==
        "5:3: optimizer.max_coefficient: does not apply here; only with method: lamb or onebit_lamb");
}

TEST_CASE("Missing required keys are reported") {
  DeckFolder const folder;
  CHECK(faults_of(folder.source("")) == Faults{"deck.yaml:1:1: data.train: missing; allowed: a list of texts"});
  CHECK(faults_of(folder.source("run:\n  seed: 3\ndata:\n  heldout: []\n")) ==
        Faults{"deck.yaml:3:1: data.train: missing; allowed: a list of texts"});
  CHECK(faults_of(folder.source("data:\n  train: []\n")) ==
        Faults{"deck.yaml:2:10: data.train: an empty list; allowed: a list of texts"});
}

TEST_CASE("A title that is too long for a report is rejected") {
  DeckFolder const folder;
  CHECK_NOTHROW(parse_deck(folder.with_data("run:\n  name: " + std::string(1000, 'n') + "\n")));
  CHECK(faults_of(folder.with_data("run:\n  name: " + std::string(1001, 'n') + "\n")) ==
        Faults{"deck.yaml:4:9: run.name: 1001 bytes; allowed: a title of at most 1000 bytes"});
}

TEST_CASE("Files need not exist for commands that do not read them") {
  DeckFolder const folder;
  auto const source = folder.source("data:\n  train: nowhere\nbatch:\n  micro: 3\n");
  CHECK(parse_deck(source, input::DeckPaths::unused).batch.micro == 3);
  CHECK_THROWS_AS(parse_deck(source), InputError);
  CHECK_THROWS_AS(parse_deck(folder.source("data:\n  train: nowhere\n  heldouts: no\n"), input::DeckPaths::unused),
                  InputError);
}

TEST_CASE("Missing files are rejected") {
  DeckFolder const folder;
  auto const at = folder.path() + "/";
  CHECK(faults_of(folder.source("data:\n  train: [shards/train, nowhere]\n")) ==
        Faults{"deck.yaml:2:10: data.train: " + at + "nowhere does not exist; allowed: HDF5 files or folders of them"});
  CHECK(faults_of(folder.source("data:\n  train: empty\n")) ==
        Faults{"deck.yaml:2:10: data.train: " + at +
               "empty has no shards; allowed: a folder with .h5 or .hdf5 files, as `bellwether prepare` writes it"});
  CHECK(faults_of(folder.source("data:\n  train: shards/train\n  heldout: shards/train\n")) ==
        Faults{"deck.yaml:3:12: data.heldout: " + at +
               "shards/train is trained on, too; list shards that data.train does not name"});
  CHECK(faults_of(folder.source("data:\n  train: [shards/train, shards/train]\n")) ==
        Faults{"deck.yaml:2:10: data.train: " + at + "shards/train is listed twice; list each shard once"});
  CHECK(faults_of(folder.with_data("run:\n  directory: shards/train/a.h5\n")) ==
        Faults{"deck.yaml:4:14: run.directory: " + at +
               "shards/train/a.h5 is a file; allowed: a folder, which need not exist yet"});
}

TEST_CASE("Held-out shards must not be training shards under any path") {
  DeckFolder const folder;
  auto const at = folder.path() + "/";
  std::filesystem::create_directory(at + "elsewhere");
  std::filesystem::create_symlink(at + "shards/train/a.h5", at + "elsewhere/b.h5");
  std::filesystem::create_directory_symlink(at + "shards/train", at + "link");
  auto const held_out = [&](std::string const& path) {
    return faults_of(folder.source("data:\n  train: shards/train\n  heldout: [shards/heldout, " + path + "]\n"));
  };
  for (std::string const path :
       {"shards/train/a.h5", "elsewhere", "elsewhere/b.h5", "link", "shards/heldout/../train"}) {
    INFO(path);
    auto const faults = held_out(path);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].starts_with("deck.yaml:3:12: data.heldout: " + at));
    CHECK(faults[0].find("is trained on, too") != std::string::npos);
    CHECK(faults[0].find("data.train") != std::string::npos);
  }
  CHECK(faults_of(folder.source("data:\n  train: [shards/train/a.h5]\n  heldout: shards/train\n")).size() == 1);
  CHECK(held_out("shards/a.h5").empty());
}

TEST_CASE("A fault is always one line") {
  DeckFolder const folder;
  auto const faults = faults_of(folder.source("data:\n  train: \"a\\nb\"\n"));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] ==
        "deck.yaml:2:10: data.train: " + folder.path() + "/a b does not exist; allowed: HDF5 files or folders of them");
}

TEST_CASE("Text that is not plain YAML is rejected") {
  CHECK(fault("batch:\n  global: [1\n").find("not YAML: ") != std::string::npos);
  CHECK(fault("batch:\n\tglobal: 1\n").starts_with("4:"));
  CHECK(fault("batch: &a\n  global: 32\n") == "3:8: an anchor; write the value out where it is used");
  CHECK(fault("batch:\n  global: !!int 32\n") == "4:11: a type tag; delete it: the key defines the type");
  CHECK(fault("? [a]\n: 3\n").find("a key that is not a word; keys are plain words") != std::string::npos);
  CHECK(fault("---\nbatch:\n  global: 1\n").ends_with("a second document; allowed: one per file"));
  CHECK(fault(std::string("batch:\0\n", 8)) == "3:7: control character U+0000 (null); delete it");
  CHECK(fault("# \x04\nbatch:\n  global: 0\n") == "3:3: control character U+0004 (end of transmission); delete it");
  CHECK(fault("# \xff\xfe\n") == "3:3: a byte that is not UTF-8; allowed: UTF-8");
  DeckFolder const folder;
  CHECK(faults_of(folder.source(std::string(2 << 20, '#'))) ==
        Faults{"deck.yaml:1:1: larger than 1 MiB; allowed: up to 1 MiB"});
  for (auto const& [start, format] :
       {std::pair("\x1F\x8B\b", "a gzip file"), std::pair("\x89HDF\r\n\x1A\n", "an HDF5 file"),
        std::pair("PK\x03\x04", "a zip archive")})
    CHECK(faults_of(folder.source(start + std::string(2 << 20, 'x'))) ==
          Faults{"deck.yaml:1:1: " + std::string(format) + "; allowed: UTF-8, not compressed"});
  // The value of an override is not a file.
  CHECK(parse_deck(folder.with_data("", {"run.name=GIF8"})).run.name == "GIF8");
  CHECK(faults_of(folder.source("data: &d {train: shards/train}\nbatch: *d\n")).size() >= 2);
  CHECK(faults_of(folder.source("just words\n")) ==
        Faults{"deck.yaml:1:1: data.train: missing; allowed: a list of texts",
               "deck.yaml:1:1: not a map of sections; allowed: run, data, "
               "batch, model, optimizer, schedule, comm, checkpoint, "
               "statistics"});
}

TEST_CASE("A text with U+0000 is refused, where the system would end a path") {
  std::string const at = "shards/train/a.h5<U+0000>x";
  CHECK(fault("run:\n  name: \"a\\0b\"\n") == "4:9: run.name: 'a<U+0000>b' holds U+0000: delete it; allowed: a text");
  CHECK(fault("run:\n  directory: \"a\\x00\"\n") ==
        "4:14: run.directory: 'a<U+0000>' holds U+0000: delete it; allowed: a text");
  CHECK(fault("  heldout: \"shards/heldout\\u0000\"\n") ==
        "3:12: data.heldout: 'shards/heldout<U+0000>' holds U+0000: delete it; allowed: a list of texts");
  CHECK(
      faults_of(DeckFolder().source("data: {train: [shards/heldout, \"shards/train/a.h5\\0x\"]}\n")) ==
      Faults{"deck.yaml:1:15: data.train: '" + at + "' holds U+0000: delete it in the list; allowed: a list of texts"});
  CHECK(fault_of_override("data.train=[\"shards/train/a.h5\\0x\"]") ==
        "'" + at + "' holds U+0000: delete it in the list; allowed: a list of texts");
  CHECK(fault_of_override("run.directory=\"a\\0b\"") == "'a<U+0000>b' holds U+0000: delete it; allowed: a text");
}

TEST_CASE("Deep nesting is rejected") {
  DeckFolder const folder;
  for (std::string const open : {"[", "{a: ", "- "}) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += open;
    CHECK_FALSE(faults_of(folder.source(text)).empty());
  }
}

TEST_CASE("All faults are reported at once, in order of lines") {
  DeckFolder const folder;
  auto const faults =
      faults_of(folder.source("schedule:\n  steps: 0\n  decay: cosine\n  power: 1\n"
                              "modell: {}\n"
                              "optimizer:\n  lr: .inf\n  lr: 2\n  min_coefficient: 3\n"
                              "data:\n  train: nowhere\n",
                              {"batch.micro=no", "run.seed=-1"}));
  REQUIRE(faults.size() == 9);
  CHECK(faults[0] ==
        "deck.yaml:2:10: schedule.steps: '0' is out of range; allowed: a whole number from 1 to 1000000000000 "
        "(steps)");
  CHECK(faults[1] == "deck.yaml:4:3: schedule.power: does not apply here; only with decay: polynomial");
  CHECK(faults[2].starts_with("deck.yaml:5:1: modell: unknown key (did you mean 'model'?)"));
  CHECK(faults[3] == "deck.yaml:7:7: optimizer.lr: '.inf' is not finite; allowed: a number from 0 to 1000000");
  CHECK(faults[4] == "deck.yaml:8:3: optimizer.lr: given again; allowed: once per file (line 7)");
  CHECK(faults[5] == "deck.yaml:9:20: optimizer.min_coefficient: 3 is above max_coefficient; at most 0.3");
  CHECK(faults[6].starts_with("deck.yaml:11:10: data.train: "));
  CHECK(faults[7] == "--set batch.micro=no: 'no' is not a number; allowed: a whole number from 1 to 1048576");
  CHECK(faults[8].starts_with("--set run.seed=-1: '-1' is out of range"));
}
