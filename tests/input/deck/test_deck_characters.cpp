// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/odd_characters.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using namespace bellwether::input;
using Faults = std::vector<std::string>;

namespace {

bool ends(std::string const& text, std::string const& end) {
  INFO(text << " ends in " << end);
  CHECK(text.ends_with(end));
  return text.ends_with(end);
}

}  // namespace

TEST_CASE("An odd character in a key is reported with its place") {
  CHECK(fault_after_data("schedule: {st\u200Beps: 4}\n") ==
        "3:12: schedule.st<U+200B>eps: holds U+200B (zero width space) at 3:14: delete it");
  CHECK(fault_after_data("schedule:\n\u00A0\u00A0steps: 4\n") ==
        "4:1: <U+00A0><U+00A0>steps: holds U+00A0 (no-break space) at 4:1: type a space instead");
  CHECK(fault_after_data("schedule:\n  steps: 4\n  \u3000warmup_steps: 2\n")
            .ends_with("holds U+3000 (ideographic space) at 5:3: type a space instead"));
  CHECK(fault_after_data("sche\u00ADdule: {steps: 4}\n") ==
        "3:1: sche<U+00AD>dule: holds U+00AD (soft hyphen) at 3:5: delete it");
  CHECK(fault_after_data("\uFEFFbatch: {micro: 4}\n")
            .ends_with("holds U+FEFF (byte order mark, zero width no-break space) at 3:1: delete it"));
  CHECK(fault_after_data("batch: {micr\u043E: 4}\n")
            .ends_with("holds U+043E (Cyrillic small letter o) at 3:13: type o instead"));
  CHECK(fault_after_data("batch: {\u201Cmicro\u201D: 4}\n")
            .ends_with("holds U+201C (left double quotation mark) at 3:9: type \" instead"));
  CHECK(fault_after_data("optimizer: {method: onebit_lamb, freeze: {st\u200Bep: 4}}\n")
            .ends_with("freeze.st<U+200B>ep: holds U+200B (zero width space) at 3:45: delete it"));
}

TEST_CASE("An odd character between key and value is reported with its place") {
  ends(fault_after_data("schedule:\n  steps:\u00A04\n"),
       "it holds U+00A0 (no-break space) at 4:9: type a space instead");
  ends(fault_after_data("schedule:\n  steps\uFF1A4\n"), "it holds U+FF1A (fullwidth :) at 4:8: type : instead");
  ends(fault_after_data("schedule:\n  steps\uFF1A 4\n  warmup_steps: 2\n"),
       "U+FF1A (fullwidth :) at 4:8: type : instead");
  ends(fault_after_data("schedule: {steps:\u00A04}\n"), "holds U+00A0 (no-break space) at 3:18: type a space instead");
  ends(fault_after_data("schedule: {steps: 4\uFF0C warmup_steps: 2}\n"),
       "U+FF0C (fullwidth ,) at 3:20: type , instead");
  ends(fault_after_data("batch:\u2028  micro: 4\n"), "U+2028 (line separator) at 3:7: end the line there");
  ends(fault_after_data("batch: {micro: 4\uFF5D\n"), "U+FF5D (fullwidth }) at 3:17: type } instead");
}

TEST_CASE("An odd character in a number or a word is reported with its place") {
  CHECK(fault_after_data("schedule: {steps: 4\u00A0}\n") ==
        "3:19: schedule.steps: '4<U+00A0>' is not a number; allowed: a whole number from 1 to 1000000000000 (steps); "
        "it holds "
        "U+00A0 (no-break space) at 3:20: type a space instead");
  ends(fault_after_data("schedule:\n  steps: 4\u00A0# four\n"),
       "U+00A0 (no-break space) at 4:11: type a space instead");
  ends(fault_after_data("optimizer: {lr: 1e\u22123}\n"), "it holds U+2212 (minus sign) at 3:19: type - instead");
  ends(fault_after_data("optimizer: {lr: \u20131}\n"), "it holds U+2013 (en dash) at 3:17: type - instead");
  ends(fault_after_data("batch: {micro: \uFF14}\n"), "it holds U+FF14 (fullwidth 4) at 3:16: type 4 instead");
  ends(fault_after_data("batch: {micro: \u201C4\u201D}\n"),
       "it holds U+201C (left double quotation mark) at 3:16: type \" instead");
  ends(fault_after_data("optimizer: {method: l\u0430mb}\n"),
       "it holds U+0430 (Cyrillic small letter a) at 3:22: type a instead");
  ends(fault_after_data("run: {walltime: 1\uFF1A00:00}\n"), "it holds U+FF1A (fullwidth :) at 3:18: type : instead");
  // Columns count characters, also after other characters.
  ends(fault_after_data("run: {name: \u00E9\u00E9\u00E9, seed: 4\u200B}\n"),
       "it holds U+200B (zero width space) at 3:25: delete it");
}

TEST_CASE("Tabs and line ends other than line feeds are reported") {
  ends(fault_after_data("batch:\n\tmicro: 4\n"), "U+0009 (tab) at 4:1 indents the line: type spaces instead");
  ends(fault_after_data("batch:\n  micro: 4\n\tglobal: 4\n"),
       "U+0009 (tab) at 5:1 indents the line: type spaces instead");
  ends(fault_after_data("batch:\n  \tmicro: 4\n"), "U+0009 (tab) at 4:3 indents the line: type spaces instead");
  CHECK(fault_after_data("batch: {micro: 4}\rmodel: {}\n") ==
        "3:18: U+000D (carriage return) without a line feed after it; end lines with a line feed, and delete it "
        "elsewhere");
  CHECK(fault_after_data("# a comment\rbatch: {micro: 4}\n").starts_with("3:12: U+000D (carriage return)"));
  DeckFolder const folder;
  CHECK(faults_of(folder.source("data:\r\n  train: shards\r\n")) == Faults());
  CHECK(faults_of(folder.source("data: {train:\tshards,\n\theldout: shards/heldout}\t# c\n")) == Faults());
  CHECK(fault_after_data("batch: {micro: 4}\u0085\n") == "3:18: control character U+0085 (next line); delete it");
  CHECK(faults_of(folder.source("\xFF\xFE"
                                "d\0a\0t\0a\0")) == Faults{"deck.yaml:1:1: text in UTF-16; allowed: UTF-8"});
}

TEST_CASE("An invisible character in an unquoted path is rejected") {
  DeckFolder const folder;
  CHECK(fault_after_data("run: {directory: run\u00A02}\n") ==
        "3:18: run.directory: 'run<U+00A0>2' does not exist, and holds U+00A0 (no-break space) at 3:21: type a space "
        "instead; in double quotes it is part of the path");
  CHECK(fault_after_data("run: {directory: run\u200B}\n").find("holds U+200B (zero width space) at 3:21") !=
        std::string::npos);
  CHECK(fault_after_data("run: {directory: \u201Crun\u201D}\n").find("holds U+201C") != std::string::npos);
  CHECK(fault_after_data("run:\n  directory: run\u00A0# here\n").find("'run<U+00A0># here' continues after #") !=
        std::string::npos);
  CHECK(faults_of(folder.source("data: {train: [shards/train\uFF0Cshards/a.h5]}\n"))[0].find(
            "holds U+FF0C (fullwidth ,) at 1:28: type , instead") != std::string::npos);
  CHECK(parse_deck(folder.with_data("run: {directory: \"run\u00A02\"}\n")).run.directory ==
        folder.path() + "/run\u00A02");
  std::filesystem::create_directories(folder.path() + "/old\u202F1");
  CHECK(parse_deck(folder.with_data("run: {directory: old\u202F1}\n")).run.directory == folder.path() + "/old\u202F1");
}

TEST_CASE("A title may hold any characters") {
  DeckFolder const folder;
  for (std::string const name : {"\u00C9tude n\u00BA\u00A07", "\u201Cquoted\u201D", "\u5B9F\u9A13\uFF1A\uFF11",
                                 "a\u200Db", "Ada\u2019s run", "\u043F\u0440\u043E\u0431\u0430"}) {
    CHECK(parse_deck(folder.with_data("run: {name: " + name + "}\n")).run.name == name);
    CHECK(parse_deck(folder.with_data("run: {name: \"" + name + "\"}  # " + name + "\n")).run.name == name);
    CHECK(parse_deck(folder.with_data("", {"run.name=" + name})).run.name == name);
  }
  CHECK(parse_deck(folder.with_data("run: {directory: \u5B9F\u9A13\uFF1A\uFF11}\n")).run.directory ==
        folder.path() + "/\u5B9F\u9A13\uFF1A\uFF11");
  CHECK(faults_of(folder.with_data("# \u00A0\u200B\u2028 \u201C\nbatch: {micro: 4}\n")) == Faults());
  CHECK(faults_of(folder.source("\uFEFF"
                                "data: {train: shards}\n")) == Faults());
  CHECK(fault_after_data("run: {name: a\u00A0#b}\n").starts_with("3:13: run.name: 'a<U+00A0>#b' continues after #"));
  // Text that is written with escapes is printed with escapes and read again.
  auto const source = folder.with_data("run: {name: \"a\\u0085\\x7Fb\"}\n");
  auto const again = folder.source(resolved_deck(parse_deck(source), source));
  CHECK(parse_deck(again).run.name ==
        "a\u0085\x7F"
        "b");
}

TEST_CASE("An odd character in an override is reported") {
  DeckFolder const folder;
  auto const told = [&](std::string const& change) {
    auto const faults = faults_of(folder.with_data("", {change}));
    REQUIRE(faults.size() == 1);
    auto const begin = "--set " + with_codes(change) + ": ";
    REQUIRE(faults[0].starts_with(begin));
    return faults[0].substr(begin.size());
  };
  CHECK(told("schedule.steps=4\u00A0") ==
        "'4<U+00A0>' is not a number; allowed: a whole number from 1 to 1000000000000 (steps); it holds U+00A0 "
        "(no-break space) "
        "as character 2 of the value: type a space instead");
  CHECK(told("schedule.st\u200Beps=4") == "the key holds U+200B (zero width space): delete it");
  CHECK(told("\uFEFFschedule.steps=4").starts_with("the key holds U+FEFF"));
  CHECK(told("schedule.steps\uFF1D4") ==
        "not an override; allowed: section.key=value; it holds U+FF1D (fullwidth =): type = "
        "instead");
  ends(told("optimizer.lr=1e\u22123"), "it holds U+2212 (minus sign) as character 3 of the value: type - instead");
  ends(told("run.directory=\u201Crun\u201D"),
       "holds U+201C (left double quotation mark) as character 1 of the value: type \" instead; in double quotes it is "
       "part of the path");
}

TEST_CASE("Characters have codes and names") {
  CHECK(character_name(U'\u200B') == "U+200B (zero width space)");
  CHECK(character_name(U'\x1B') == "U+001B (escape)");
  CHECK(character_name(U'\u4E00') == "U+4E00");
  CHECK_FALSE(find_odd("plain, \u00E9 \u4E00 \U0001F600"));
  CHECK(find_odd("ab\U000E0001")->at == 2);
  CHECK(with_codes("a\tb\nc\x1B\u200B\u201C\xFF") == "a b c<U+001B><U+200B>\u201C\\xff");
}
