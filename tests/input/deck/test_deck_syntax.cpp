// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("A quote that is never closed is reported where it opens") {
  for (std::string const quote : {"\"", "'"}) {
    CHECK(fault_after_data("run:\n  name: " + quote + "first try\n  directory: big\n") ==
          "4:9: the quote that opens here is never closed");
    CHECK(fault_after_data("schedule: {steps: 4}\nrun:\n  # it's a comment\n  name: " + quote + "try\n\n  seed: 3\n") ==
          "6:9: the quote that opens here is never closed");
  }
}

TEST_CASE("A quote that closes far away is reported with both places") {
  CHECK_THAT(fault_after_data("run:\n  name: 'ann\n  seed: 3\noptimizer:\n  method: 'lamb'\n"),
             EndsWith("; the quote that opens at 4:9 closes only at 7:11"));
  CHECK_THAT(fault_after_data("run:\n  name: 'ann  # the first\n  seed: 3  # the paper's\nbatch:\n  global: 4\n"),
             EndsWith("; the quote that opens at 4:9 closes only at 5:23"));
  DeckFolder const folder;
  for (auto const* quote : {"'", "\""})
    CHECK_THAT(faults_of(folder.source("data:\n  train: [" + std::string(quote) + "shards]\n  heldout: []\n")).at(0),
               EndsWith("; the quote that opens at 2:11 is never closed"));
}

TEST_CASE("Quotes inside values open nothing") {
  for (auto const* name : {"it's", "a 'b", "5\" disk", "'it''s'", "\"a \\\" b\"", "\"two\n    lines\"", "a, 'b"}) {
    DeckFolder const folder;
    INFO(name);
    CHECK(faults_of(folder.with_data("run:\n  name: " + std::string(name) + "\n  seed: 3\n")).empty());
  }
}

TEST_CASE("A missing blank after a colon is explained where YAML reads a text") {
  constexpr auto is_section_fault = "schedule: not a section; allowed: keys with values, one per line, indented";
  CHECK(fault_after_data("schedule:\n  steps:3\n") ==
        "4:3: " + std::string(is_section_fault) + "; at 4:9: type a blank after the colon");
  CHECK(fault_after_data("schedule:\n  steps:3  # few\n\nrun:\n  seed: 1\n") ==
        "4:3: " + std::string(is_section_fault) + "; at 4:9: type a blank after the colon");
  CHECK(fault_after_data("schedule: steps:3\n") ==
        "3:11: " + std::string(is_section_fault) + "; at 3:17: type a blank after the colon");
  CHECK_THAT(fault_after_data("schedule: {steps:3}\n"),
             StartsWith("3:12: schedule.steps:3: unknown key") && EndsWith("; at 3:18: type a blank after the colon"));
  CHECK_THAT(fault_after_data("schedule:{steps: 3}\n"),
             StartsWith("3:1: ") && EndsWith("; at 3:10: type a blank after the colon"));
  CHECK_THAT(fault_after_data("optimizer:\n  method: onebit_lamb\n  freeze:\n    latest:0.25\n"),
             StartsWith("6:5: optimizer.freeze: ") && EndsWith("; at 6:12: type a blank after the colon"));
  CHECK_THAT(fault_after_data("run: {name:[x]}\n"), EndsWith("; at 3:12: type a blank after the colon"));
  CHECK_THAT(fault_after_data("run: {seed: 1, name:[x]}\n"), EndsWith("; at 3:21: type a blank after the colon"));
  DeckFolder const folder;
  CHECK_THAT(faults_of(folder.source("steps:3\n")).back(),
             ContainsSubstring("not a map of sections") && EndsWith("; at 1:7: type a blank after the colon"));
  // Without a key before a colon, nothing is known.
  for (auto const* value : {"3", "steps 3", "'steps:3'", "Steps:3", "a b:3"})
    CHECK_THAT(fault_after_data("schedule: " + std::string(value) + "\n"), EndsWith(is_section_fault));
}

TEST_CASE("Frequent slips of YAML are explained") {
  CHECK_THAT(fault_after_data("schedule:\n  steps:20\n  warmup_steps: 5\n"),
             EndsWith("; at 4:9: type a blank after the colon"));
  CHECK_THAT(fault_after_data("run:\n  name: a: b\n"),
             EndsWith("; at 4:9: a value that holds a colon and a blank must be in quotes"));
  CHECK_THAT(fault_after_data("run:\n  directory: @x\n"),
             EndsWith("; at 4:14: a value that begins with @ must be in quotes"));
  CHECK_THAT(fault_after_data("run:\n  directory: \"C:\\data\"\n"),
             EndsWith("; at 4:14: in double quotes a \\ begins an escape; write the value in single quotes"));
  CHECK_THAT(fault_after_data("run:\n  name: x\n   seed: 4\n"),
             ContainsSubstring("not YAML") && ContainsSubstring("; "));
  CHECK_THAT(fault_after_data("run:\n   name: x\n  seed: 4\n"),
             EndsWith("; possibly keys that are not indented alike: look at this line and the one above"));
  CHECK_THAT(fault_after_data("run:\n  name: 'ann's run'\n"),
             EndsWith("; at 4:9: the value goes on after its quote; write a quote within single quotes twice"));
  CHECK_THAT(fault_after_data("run:\n  walltime: null  # such as 3:50:00; null: none\n   seed: 1\n"),
             EndsWith("; possibly keys that are not indented alike: look at this line and the one above"));
  CHECK_THAT(fault_after_data("batch: {global: 32 micro: 32}\n"), !ContainsSubstring("must be in quotes"));
  DeckFolder const folder;
  CHECK_THAT(faults_of(folder.source("data:\n  train:\n  -a.h5\n  heldout: []\n")).at(0),
             EndsWith("; at 3:4: type a blank after the -"));
  CHECK_THAT(faults_of(folder.source("data:\n  train: [a.h5\nmodel:\n  layers: 2\n")).at(0),
             EndsWith("; the bracket that opens at 2:10 is never closed"));
}
