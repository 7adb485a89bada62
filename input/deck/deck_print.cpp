// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/cluster.hpp"
#include "input/deck/deck_document.hpp"
#include "input/deck/deck_table.hpp"
#include "input/text/odd_characters.hpp"

namespace bellwether::input {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string origin_of(std::string const& key, Origins const& origins, DeckSource const& source) {
  auto const origin = origins.find(key);
  if (origin == origins.end()) return "default";
  int const change = origin->second.override_index;
  if (change >= 0) return "--set " + with_codes(source.overrides.at(static_cast<std::size_t>(change)));
  return with_codes(source.path) + ":" + std::to_string(origin->second.place.line);
}

std::string default_of(KeyRow const& key) { return key.required ? "none, the key is required" : key.value; }

}  // namespace

std::string resolved_deck(Deck const& resolved, DeckSource const& source, DeckPlace place) {
  auto const origins = read_keys(source).origins;
  auto deck = resolved;
  if (place == DeckPlace::run_directory) deck.run.directory = ".";
  std::string text =
      "# Every key of a run with its value and the origin of the value. `bellwether train` with --resume continues "
      "the\n"
      "# run; with --set run.directory=NEW it starts another run.\n";
  if (place == DeckPlace::run_directory)
    text += "# run.directory is the folder of this file, so that a run may be moved.\n";
  text += "# Made from " + with_codes(source.path);
  for (auto const& change : source.overrides) text += " --set " + with_codes(change);
  text += "\n";
  for (auto const& section : key_table(deck)) {
    text += "\n" + section.name + ":  # " + section.help + "\n";
    std::string_view open_group = {};
    for (auto const& key : section.keys) {
      auto const [group, leaf] = split_key(key.name);
      auto const entry_line = [&, applies = key.applies](std::string const& entry, std::string const& comment) {
        text += padded((applies ? "  " : "  # ") + entry, 38) + "  # " + comment + "\n";
      };
      // The group applies if its first key does.
      if (group != open_group && !group.empty())
        entry_line(std::string(group) + ":", "'" + std::string(group) + ": auto' sets none of these");
      open_group = group;
      entry_line(
          (group.empty() ? "" : "  ") + std::string(leaf) + ": " + key.value,
          key.applies ? origin_of(section.name + "." + key.name, origins, source) : "only with " + key.only_with);
    }
  }
  return text;
}

namespace {

std::vector<SectionRows> cluster_table() {
  return key_table([](ConfigVisitor& visit) { Cluster().describe(visit); });
}

std::string schema_of(std::vector<SectionRows> const& sections) {
  std::string text;
  for (auto const& section : sections) {
    text += section.name + "    " + section.help + "\n";
    for (auto const& key : section.keys) {
      text += "  " + padded(key.name, 20) + "  " + key.allowed + "; default " + default_of(key) + "\n";
      text += "  " + padded("", 20) + "  " + key.help + "\n";
      if (!key.only_with.empty()) text += "  " + padded("", 20) + "  only with " + key.only_with + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string markdown_of(std::vector<SectionRows> const& sections, std::string const& heading) {
  std::string text;
  for (auto const& section : sections) {
    text += "\n" + heading + " " + section.name + "\n\nIn short: " + section.help + ".\n\n";
    text += "| key | takes | default | meaning |\n|---|---|---|---|\n";
    for (auto const& key : section.keys) {
      std::string const with = key.only_with.empty() ? "" : " Only with `" + key.only_with + "`.";
      std::string const value = key.required ? "required" : "`" + key.value + "`";
      text += "| `" + key.name + "` | " + key.allowed + " | " + value + " | " + key.help + "." + with + " |\n";
    }
  }
  return text;
}

}  // namespace

std::string deck_schema() {
  return schema_of(key_table(Deck())) + "The file of check --cluster:\n\n" + schema_of(cluster_table());
}

std::string deck_reference_markdown() {
  std::string text =
      "# Deck reference\n\n"
      "For users who look up a key of the deck. `bellwether check --schema --markdown` writes this page from\n"
      "the table that the program reads decks with; do not edit it. [Decks](deck.md) explains how to write one.\n\n"
      "Every key has a default unless the table says `required`. The program refuses a key that is unknown,\n"
      "repeated, out of range or without meaning for the chosen method. It reports all errors at once.\n"
      "Three keys of `comm` are tolerated without a 1-bit method: `scale_groups` and `error_feedback` with their\n"
      "defaults, and `hierarchy` with a warning.\n"
      "`--set section.key=value` replaces a value. A key with a dot is a map in the deck: `freeze: {step: 200}`.\n"
      "`freeze: auto` sets no key of that map.\n\n"
      "Relative paths in `data` start at the deck's folder. Relative paths on the command line and in `run`\n"
      "start at the working directory. `directory: .` in a deck is the deck's own folder. Where the deck comes\n"
      "over a pipe, all its relative paths start at the working directory. [More about paths and\n"
      "`--set`](deck.md#paths).\n";
  text += markdown_of(key_table(Deck()), "##");
  text +=
      "\n## A cluster\n\nAnother file, for [forecasts](running.md#forecast-another-cluster): `bellwether check DECK "
      "--cluster CLUSTER`.\n";
  return text + markdown_of(cluster_table(), "###");
}

}  // namespace bellwether::input
