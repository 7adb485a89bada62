// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_table.hpp"
#include "input/deck/suggestion.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

#include <iterator>
#include <map>
#include <sstream>

using namespace bellwether;
using namespace bellwether::input;

namespace {

std::string const tree = BELLWETHER_SOURCE_ROOT;

std::string text_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::map<std::string, std::string> values(Deck const& deck) {
  std::map<std::string, std::string> all;
  for (auto const& section : key_table(deck))
    for (auto const& key : section.keys)
      if (key.applies) all[section.name + "." + key.name] = key.value;
  return all;
}

/// Returns the comment of the line of a deck that sets a key; empty if no line sets it, or the line has no comment. A
/// key of a group is in a map, in one line or in several, or `auto` sets the whole group.
std::string comment_of(std::string const& deck, std::string const& section, std::string const& name) {
  auto const [group, leaf] = split_key(name);
  std::istringstream lines(deck);
  std::string in_section, in_group;
  for (std::string line; std::getline(lines, line);) {
    auto const depth = line.find_first_not_of(' ');
    if (depth == std::string::npos || line[depth] == '#') continue;
    auto const hash = line.find(" # ");
    auto const text = line.substr(0, hash), key = text.substr(depth, text.find(':') - depth);
    if (depth == 0) in_section = key;
    if (depth == 2) in_group = key;
    auto const inside = " " + std::string(leaf) + ":", opening = "{" + std::string(leaf) + ":";
    bool const in_one_line =
        depth == 2 && (text.find(": auto") != std::string::npos || text.find(inside) != std::string::npos ||
                       text.find(opening) != std::string::npos);
    bool const sets =
        group.empty() ? depth == 2 && key == leaf : in_group == group && (in_one_line || (depth == 4 && key == leaf));
    if (in_section == section && sets) return hash == std::string::npos ? "" : line.substr(hash + 3);
  }
  return "";
}

}  // namespace

TEST_CASE("A short deck keeps every default") {
  DeckFolder const folder;
  auto const deck = parse_deck(folder.with_data("batch:\n  global: 64  # sequences\n"));
  auto expected = values(Deck());
  auto const found = values(deck);
  for (auto const& [key, value] : expected)
    if (key != "batch.global" && key != "data.train" && key != "run.directory") CHECK(found.at(key) == value);
  CHECK(deck.batch.global == 64);
  CHECK(deck.data.train == std::vector{folder.path() + "/shards/train"});
  CHECK(deck.run.directory == folder.path() + "/run");
}

TEST_CASE("Numbers are read exactly") {
  DeckFolder const folder;
  auto const deck = parse_deck(folder.with_data(
      "batch: {global: 1e2, micro: +8}\nschedule: {steps: 2.0}\n"
      "optimizer: {lr: .5, clip: 5., epsilon: 1e-12, weight_decay: 0}\nrun: {name: 2026, seed: 9e15}\n"));
  CHECK(deck.batch.global == 100);
  CHECK(deck.batch.micro == 8);
  CHECK(deck.schedule.steps == 2);
  CHECK(deck.optimizer.lr == 0.5);
  CHECK(deck.optimizer.clip == 5.0);
  CHECK(deck.optimizer.epsilon == 1e-12);
  CHECK(deck.run.name == "2026");
  CHECK(deck.run.seed == 9000000000000000);
}

TEST_CASE("Overrides replace values of the deck") {
  DeckFolder const folder;
  auto source = folder.source("data:\n  train: missing\noptimizer:\n  max_coefficient: 0.2\n",
                              {"data.train=[shards/train/a.h5]", "optimizer.method=adamw", "run.name=a=b c"});
  // Paths on the command line are relative to the working directory; those in the deck are relative to the deck.
  source.folder = "/nonexistent";
  auto const deck = parse_deck(source);
  CHECK(deck.data.train == std::vector{folder.path() + "/shards/train/a.h5"});
  CHECK(deck.optimizer.method == optim::Method::adamw);
  CHECK(deck.run.name == "a=b c");
}

TEST_CASE("An override may complete a deck but not hide its faults") {
  DeckFolder const folder;
  CHECK(faults_of(folder.source("batch: {global: 8}\n", {"data.train=shards/train"})).empty());
  CHECK(faults_of(folder.with_data("batch: {global: x}\n", {"batch.global=8"})).size() == 1);
}

TEST_CASE("The resolved deck parses to the same deck from any folder") {
  DeckFolder const folder;
  std::vector<DeckSource> sources = {
      folder.with_data(""),
      folder.with_data("run:\n  name: \"odd: 'name' # \\\"\\\\ \\n\\t \u00e9\"\n  directory: 'a # b'\n"),
      folder.with_data("schedule: {decay: exponential, decay_rate: 0.1, warmup_steps: 3, warmup: quadratic}\n"
                       "optimizer: {method: adamw, lr: 1.2345678901234567e-5, beta1: 0.1}\n"
                       "data2: {}\n"),
      folder.with_data("optimizer: {min_coefficient: 0.001}\n",
                       {"optimizer.method=adamw", "schedule.decay=polynomial"}),
      folder.with_data("optimizer: {method: onebit_lamb}\n"),
      folder.with_data("optimizer: {method: onebit_adam, freeze: {latest: 0.5}}\n"),
      folder.with_data("optimizer: {method: onebit_lamb, freeze: {step: 7}}\n"),
      folder.with_data("optimizer: {method: onebit_sgd, freeze: auto}\n", {"optimizer.freeze.step=0"})};
  sources[2].text.erase(sources[2].text.find("data2"));
  for (auto const& source : sources) {
    auto const deck = parse_deck(source);
    auto const text = resolved_deck(deck, source);
    DeckSource const again{"resolved.yaml", text, {}, "/", "/"};
    auto const twice = parse_deck(again);
    CHECK(values(twice) == values(deck));
    for (auto const& [key, value] : values(deck))
      CHECK(text.find(key.substr(key.rfind('.') + 1) + ": " + value) != std::string::npos);
  }
}

TEST_CASE("Keys of a group are read from a map") {
  DeckFolder const folder;
  auto const freeze = [&](std::string const& value, std::vector<std::string> overrides = {}) {
    auto const text = "optimizer:\n  method: onebit_lamb\n" + (value.empty() ? "" : "  freeze: " + value + "\n");
    return parse_deck(folder.with_data(text, std::move(overrides))).optimizer.freeze;
  };
  for (std::string const unset : {"", "auto", "{}", "{step: null}"}) {
    CHECK_FALSE(freeze(unset).step);
    CHECK(freeze(unset).latest == 0.25);
  }
  CHECK(freeze("{latest: 0.5}").latest == 0.5);
  CHECK(freeze("\n    step: 200").step == 200);
  CHECK(freeze("{step: 200}", {"optimizer.freeze.step=300"}).step == 300);
  CHECK(freeze("", {"optimizer.freeze.step=300"}).step == 300);
  CHECK_FALSE(freeze("{step: 200}", {"optimizer.freeze=auto"}).step);
  // The whole map is replaced, not merged.
  CHECK(freeze("{latest: 0.5}", {"optimizer.freeze={step: 3}"}).step == 3);
  CHECK(freeze("{step: 200}", {"optimizer.freeze={latest: 0.75}"}).latest == 0.75);
  // A key that an override made inapplicable is dropped.
  CHECK(freeze("{latest: 0.5}", {"optimizer.freeze.step=3"}).step == 3);
  auto const dropped = folder.with_data("optimizer: {method: onebit_lamb, freeze: {step: 9}, unify: layer}\n",
                                        {"optimizer.method=lamb"});
  CHECK(parse_deck(dropped).optimizer.method == optim::Method::lamb);
}

TEST_CASE("The resolved deck prints a map with the origin of each key") {
  DeckFolder const folder;
  auto const printed = [&](std::string const& text, std::vector<std::string> overrides = {}) {
    auto const source = folder.with_data(text, std::move(overrides));
    auto const all = resolved_deck(parse_deck(source), source);
    auto const at = all.find("freeze:");
    return all.substr(all.rfind('\n', at) + 1, all.find("  # coefficient_beta", at) - all.rfind('\n', at) - 1);
  };
  CHECK(printed("optimizer: {method: onebit_sgd, freeze: {step: 7}}\n") ==
        "  freeze:                               # 'freeze: auto' sets none of these\n"
        "    step: 7                             # deck.yaml:3\n"
        "  #   latest: 0.25                      # only with freeze: auto\n");
  CHECK(printed("optimizer: {method: onebit_sgd, freeze: {step: 7}}\n", {"optimizer.freeze=auto"}) ==
        "  freeze:                               # 'freeze: auto' sets none of these\n"
        "    step: null                          # --set optimizer.freeze=auto\n"
        "    latest: 0.25                        # default\n");
  CHECK(printed("optimizer: {method: lamb}\n").starts_with("  # freeze:     "));
}

TEST_CASE("A resolved deck in the run directory may be moved") {
  DeckFolder const folder;
  auto const source = folder.with_data("run: {directory: here}\n");
  auto const text = resolved_deck(parse_deck(source), source, DeckPlace::run_directory);
  CHECK(text.find("\n  directory: \".\" ") != std::string::npos);
  CHECK(text.find("--resume") != std::string::npos);
  CHECK(parse_deck({"deck.resolved.yaml", text, {}, "/moved/run", "/"}).run.directory == "/moved/run");
  CHECK(parse_deck({"deck.resolved.yaml", text, {"run.directory=."}, "/moved/run", "/new"}).run.directory == "/new/");
  CHECK(parse_deck({"deck.resolved.yaml", text, {"run.directory=b"}, "/moved/run", "/new"}).run.directory == "/new/b");
}

TEST_CASE("The resolved deck names the origin of each value") {
  DeckFolder const folder;
  auto const source = folder.with_data("batch:\n  global: 64\n", {"optimizer.lr=2e-3"});
  auto const text = resolved_deck(parse_deck(source), source);
  CHECK(text.find("\n  global: 64                            # deck.yaml:4\n") != std::string::npos);
  CHECK(text.find("\n  lr: 0.002                             # --set optimizer.lr=2e-3\n") != std::string::npos);
  CHECK(text.find("\n  micro: 32                             # default\n") != std::string::npos);
  CHECK(text.find("\n  # power: 0.5                          # only with decay: polynomial\n") != std::string::npos);
  CHECK(text.find("\n  layer_norm_epsilon: 1.0e-12           # default\n") != std::string::npos);
  CHECK(text.find("# Made from deck.yaml --set optimizer.lr=2e-3\n") != std::string::npos);
}

TEST_CASE("Shipped decks are valid and comment every key") {
  struct Size {
    char const* name;
    std::int64_t layers, hidden, heads;
  };
  // Google's table of small BERTs (github.com/google-research/bert) and BERT itself.
  for (Size const size :
       {Size{"tiny", 2, 128, 2}, Size{"mini", 4, 256, 4}, Size{"small", 4, 512, 8}, Size{"medium", 8, 512, 8},
        Size{"base", 12, 768, 12}, Size{"large", 24, 1024, 16}, Size{"demo", 2, 128, 2},
        Size{"large_onebit", 24, 1024, 16}, Size{"demo_onebit", 2, 128, 2}}) {
    INFO(size.name);
    DeckFolder const folder;
    auto const text = text_of(tree + "/input/decks/" + size.name + ".yaml");
    CHECK(faults_of(folder.source(text)) == std::vector<std::string>());
    auto const deck = parse_deck(folder.source(text));
    CHECK(deck.model.layers == size.layers);
    CHECK(deck.model.hidden == size.hidden);
    CHECK(deck.model.heads == size.heads);
    CHECK(deck.model.feed_forward == 4 * size.hidden);
    for (auto const& section : key_table(deck))
      for (auto const& key : section.keys)
        if (key.applies) {
          INFO(section.name << "." << key.name);
          CHECK_FALSE(comment_of(text, section.name, key.name).empty());
        }
  }
}

TEST_CASE("The search for comments of keys sees into maps") {
  std::string const rest = "batch:\n  step: 3  # of another section\n";
  CHECK(comment_of("optimizer:\n  lr: 1  # rate\n  clip: 1\n" + rest, "optimizer", "lr") == "rate");
  CHECK(comment_of("optimizer:\n  lr: 1  # rate\n  clip: 1\n" + rest, "optimizer", "clip").empty());
  CHECK(comment_of("optimizer:\n  # lr: 1  # rate\n" + rest, "optimizer", "lr").empty());
  for (std::string const map : {"{step: 3}", "{latest: 1, step: 3}", "auto"})
    CHECK(comment_of("optimizer:\n  freeze: " + map + "  # when\n" + rest, "optimizer", "freeze.step") == "when");
  CHECK(comment_of("optimizer:\n  freeze:  # when\n    step: 3  # T_w\n" + rest, "optimizer", "freeze.step") == "T_w");
  for (std::string const map :
       {"{}  # step: 3", "{latest: 1}  # when", "  # when\n    latest: 1  # share", "{step: 3}"})
    CHECK(comment_of("optimizer:\n  freeze: " + map + "\n" + rest, "optimizer", "freeze.step").empty());
}

TEST_CASE("The deck reference is current") {
  CHECK(text_of(tree + "/docs/user/deck_reference.md") == deck_reference_markdown());
}

TEST_CASE("The schema names every key with range, default and help") {
  auto const schema = deck_schema();
  for (auto const& section : key_table(Deck()))
    for (auto const& key : section.keys) {
      CHECK(schema.find("\n  " + key.name + " ") != std::string::npos);
      CHECK(schema.find(key.allowed) != std::string::npos);
      CHECK(schema.find(key.help) != std::string::npos);
      CHECK_FALSE(key.help.empty());
    }
}

TEST_CASE("Suggestions are similar to the word, or absent") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("wamrup", "warmup") == 1);
  CHECK(nearest_word("wamrup", {"steps", "warmup", "decay"}) == "warmup");
  CHECK(nearest_word("warm", {"steps", "warmup_steps", "decay"}) == "warmup_steps");
  CHECK(nearest_word("xyzzy", {"steps", "warmup", "decay"}).empty());
}
