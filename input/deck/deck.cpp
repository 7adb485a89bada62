// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck.hpp"

#include "core/system/error.hpp"
#include "input/deck/deck_checks.hpp"
#include "input/deck/deck_document.hpp"
#include "input/deck/deck_overrides.hpp"
#include "input/deck/deck_reader.hpp"
#include "input/deck/deck_table.hpp"
#include "input/files/yaml_document.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace bellwether::input {
namespace {

void append(std::vector<Fault>& to, std::vector<Fault> const& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

void Deck::describe(ConfigVisitor& visit) {
  auto const section = [&visit](std::string_view name, std::string_view help, auto& config) {
    visit.section(name, help, [&config](ConfigVisitor& inner) { config.describe(inner); });
  };
  section("run", "output folder and seed of the run", run);
  section("data", "shards and masking", data);
  section("batch", "sequences per step and per micro-batch", batch);
  section("model", "the dimensions of BERT", model);
  section("optimizer", "update rule and its parameters", optimizer);
  section("schedule", "number of steps, and the learning rate over time", schedule);
  visit.section("comm", "how ranks exchange gradients", [this](ConfigVisitor& inner) {
    comm.describe(inner, optim::compresses(optimizer.method), "optimizer." + optim::methods_where(optim::compresses));
  });
  section("checkpoint", "when and how the state is saved", checkpoint);
  section("statistics", "what is measured, and how often", statistics);
}

DeckSource read_deck_source(std::string const& path, std::vector<std::string> overrides, WaitPoll const& poll) {
  auto document = read_document(path, "a deck", poll);
  return {std::move(document.name), std::move(document.text), std::move(overrides), std::move(document.folder),
          std::filesystem::current_path().string()};
}

void throw_faults(std::vector<Fault> faults) {
  if (faults.empty()) return;
  std::stable_sort(faults.begin(), faults.end(), [](Fault const& a, Fault const& b) {
    auto const key = [](Fault const& f) { return std::tuple(f.override_index, f.where.line, f.where.column); };
    return key(a) < key(b);
  });
  std::vector<std::string> lines;
  for (auto& fault : faults) lines.push_back(std::move(fault.text));
  throw InputError(std::move(lines));
}

DeckReading read_keys(DeckSource const& source) {
  DeckReading reading;
  std::vector<SyntaxFault> syntax;
  TreeNode const root = parse_tree(source.text, syntax);
  for (auto const& fault : syntax) reading.faults.push_back(document_fault(source.path, fault.place, fault.what));
  reading.whole = syntax.empty();
  reading.overrides = parse_overrides(source.overrides, reading.faults);
  auto const keys = key_catalogue([](ConfigVisitor& visit) { Deck().describe(visit); });
  auto const read = [&](std::vector<Override> const& overrides, bool report_deck, bool report_missing) {
    reading.deck = Deck();
    DeckReader reader(source.path, root, overrides, report_deck, report_missing);
    reading.deck.describe(reader);
    reader.finish(keys);
    append(reading.faults, reader.faults());
    reading.origins = reader.origins();
    reading.paths = reader.paths();
    reading.dropped = reader.dropped();
    reading.broken = reader.broken();
  };
  // Read the deck alone first to report its own faults. Then read it again with the overrides, which may set missing
  // keys.
  bool const changed = !reading.overrides.empty();
  read({}, true, reading.whole && !changed);
  if (changed) read(reading.overrides, false, reading.whole);
  return reading;
}

namespace {

/// Places a fault where the key's value is set, or at the beginning of the deck if nothing sets it.
Fault key_fault(DeckSource const& source, DeckReading const& reading, std::string const& key, std::string const& what) {
  auto const origin = reading.origins.find(key);
  if (origin == reading.origins.end()) return document_fault(source.path, {1, 1}, key + ": " + what);
  for (auto const& change : reading.overrides)
    if (change.index == origin->second.override_index) return override_fault(change, what);
  return document_fault(source.path, origin->second.place, key + ": " + what);
}

}  // namespace

Deck parse_deck(DeckSource const& source, DeckPaths paths) {
  DeckReading reading = read_keys(source);
  auto& faults = reading.faults;
  auto const complain = [&](std::string const& key, std::string const& what) {
    faults.push_back(key_fault(source, reading, key, what));
  };
  if (reading.whole) {
    check_keys(reading.deck, reading.origins, reading.broken, complain);
    if (paths == DeckPaths::checked) check_written_paths(reading, source, complain);
  }
  resolve_paths(reading.deck, source, reading.origins);
  if (reading.whole && paths == DeckPaths::checked) check_paths(reading.deck, reading.broken, complain);
  throw_faults(std::move(faults));
  return std::move(reading.deck);
}

std::vector<std::string> override_warnings(DeckSource const& source) {
  DeckReading const reading = read_keys(source);
  auto const method = std::ranges::find(reading.overrides, "optimizer.method", &Override::key);
  if (method == reading.overrides.end()) return {};
  // A key whose own condition is overridden, such as optimizer.freeze.latest by optimizer.freeze.step, is replaced.
  auto const is_replaced = [&](DroppedKey const& dropped) {
    auto const condition =
        dropped.key.substr(0, dropped.key.find('.') + 1) + dropped.only_with.substr(0, dropped.only_with.find(':'));
    return condition != method->key && std::ranges::any_of(reading.overrides, [&](Override const& change) {
             return change.key == condition || change.key.starts_with(condition + ".");
           });
  };
  std::string keys;
  for (auto const& dropped : reading.dropped)
    if (!is_replaced(dropped)) keys += (keys.empty() ? "" : ", ") + dropped.key;
  if (keys.empty()) return {};
  return {"--set " + method->written + ": these keys of the deck are not used with " + method->value.text + ": " +
          keys};
}

std::vector<std::string> placed_faults(DeckSource const& source, std::vector<std::string> const& faults) {
  DeckReading const reading = read_keys(source);
  std::vector<std::string> placed;
  for (auto const& fault : faults) {
    std::string const key = fault.substr(0, fault.find(": "));
    bool const given = key.size() < fault.size() && reading.origins.contains(key);
    placed.push_back(given ? key_fault(source, reading, key, fault.substr(key.size() + 2)).text : fault);
  }
  return placed;
}

}  // namespace bellwether::input
