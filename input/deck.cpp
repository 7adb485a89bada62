// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck.hpp"

#include "core/error.hpp"
#include "input/deck_checks.hpp"
#include "input/deck_document.hpp"
#include "input/deck_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

namespace bellwether::input {
namespace {

std::vector<Override> parse_overrides(std::vector<std::string> const& written, std::vector<Fault>& faults) {
  std::vector<Override> overrides;
  for (auto const& text : written) {
    Override change{text, text.substr(0, text.find('=')), {}, static_cast<int>(overrides.size())};
    auto const dot = change.key.find('.');
    if (change.key.size() == text.size() || dot == 0 || dot == std::string::npos || dot + 1 == change.key.size()) {
      faults.push_back(override_fault(change, "not an override; section.key=value"));
      change.key.clear();
    } else {
      std::vector<SyntaxFault> syntax;
      change.value = parse_tree(text.substr(change.key.size() + 1), syntax);
      for (auto const& fault : syntax) faults.push_back(override_fault(change, fault.what));
    }
    overrides.push_back(std::move(change));
  }
  // A malformed override has no key to apply or to judge.
  std::erase_if(overrides, [](Override const& change) { return change.key.empty(); });
  return overrides;
}

KeyCatalogue catalogue() {
  KeyCollector collector;
  Deck().describe(collector);
  return collector.catalogue();
}

void append(std::vector<Fault>& to, std::vector<Fault> const& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

void Deck::describe(ConfigVisitor& visit) {
  auto const section = [&visit](std::string_view name, std::string_view help, auto& config) {
    visit.section(name, help, [&config](ConfigVisitor& inner) { config.describe(inner); });
  };
  section("run", "where a run writes, and its seed", run);
  section("data", "the shards, and how words are masked", data);
  section("batch", "how many sequences a step, and how many at a time", batch);
  section("model", "the dimensions of BERT", model);
  section("optimizer", "how weights follow gradients", optimizer);
  section("schedule", "how long to train, and the learning rate over time", schedule);
  section("comm", "how ranks exchange gradients", comm);
  section("checkpoint", "when the state is saved", checkpoint);
  section("statistics", "what is measured, and how often", statistics);
}

DeckSource read_deck_source(std::string const& path, std::vector<std::string> overrides) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(path + ": is a folder; a deck is a YAML file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be read (" + std::strerror(errno) + "); a deck is a YAML file");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw InputError(path + ": cannot be read to its end; a deck is a YAML file");
  return {path, std::move(text), std::move(overrides), fs::absolute(path).parent_path().string(),
          fs::current_path().string()};
}

DeckDocument read_document(DeckSource const& source) {
  auto const& name = source.path;
  std::vector<Fault> faults;
  std::vector<SyntaxFault> syntax;
  TreeNode const root = parse_tree(source.text, syntax);
  for (auto const& fault : syntax) faults.push_back(deck_fault(name, fault.place, fault.what));
  auto const overrides = parse_overrides(source.overrides, faults);
  auto const keys = catalogue();
  bool const whole = syntax.empty();  // else what is missing may be in the part that could not be read

  DeckDocument document;
  std::vector<Override> const none;
  DeckReader reader(name, root, none, true, whole && overrides.empty());
  document.deck.describe(reader);
  reader.finish(keys);
  append(faults, reader.faults());
  document.origins = reader.origins();
  auto broken = reader.broken();
  if (!overrides.empty()) {
    document.deck = Deck();
    DeckReader changer(name, root, overrides, false, whole);
    document.deck.describe(changer);
    changer.finish(keys);
    append(faults, changer.faults());
    document.origins = changer.origins();
    broken = changer.broken();
  }
  resolve_paths(document.deck, source, document.origins);

  auto const complain = [&](std::string const& key, std::string const& what) {
    auto const origin = document.origins.find(key);
    if (origin == document.origins.end())
      faults.push_back(deck_fault(name, {1, 1}, key + ": " + what));
    else if (origin->second.override_index < 0)
      faults.push_back(deck_fault(name, origin->second.place, key + ": " + what));
    else
      for (auto const& change : overrides)
        if (change.index == origin->second.override_index) faults.push_back(override_fault(change, what));
  };
  if (whole) {
    check_keys(document.deck, document.origins, broken, complain);
    check_paths(document.deck, complain);
  }
  if (!faults.empty()) {
    std::stable_sort(faults.begin(), faults.end(), [](Fault const& a, Fault const& b) {
      auto const key = [](Fault const& f) { return std::tuple(f.override_index, f.where.line, f.where.column); };
      return key(a) < key(b);
    });
    std::vector<std::string> lines;
    for (auto& fault : faults) lines.push_back(std::move(fault.text));
    throw InputError(std::move(lines));
  }
  return document;
}

Deck parse_deck(DeckSource const& source) { return read_document(source).deck; }

}  // namespace bellwether::input
