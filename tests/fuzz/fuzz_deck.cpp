// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Input: a deck, and after a line ">>>" overrides of its keys, one a line. The resolved form of an accepted deck must
/// be accepted and resolve to itself. The same text is also parsed as a cluster file.
#include "app/train/deck_changes.hpp"
#include "core/system/error.hpp"
#include "input/deck/cluster.hpp"
#include "input/deck/deck.hpp"
#include "tests/fuzz/target.hpp"

#include <sstream>

using namespace bellwether;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string text(reinterpret_cast<char const*>(data), size);
  std::vector<std::string> overrides;
  if (auto const mark = text.find("\n>>>\n"); mark != std::string::npos) {
    std::istringstream lines(text.substr(mark + 5));
    for (std::string line; std::getline(lines, line);) overrides.push_back(line);
    text.resize(mark + 1);
  }
  static std::string const folder = [] {
    std::filesystem::create_directories(fuzz::scratch() / "shards");
    fuzz::in_file("shards/a.h5", "x");
    return fuzz::scratch().path();
  }();
  try {
    input::parse_cluster("cluster.yaml", text);
  } catch (InputError const& error) {
    for (auto const& fault : error.faults()) fuzz::must(fault.find('\n') == std::string::npos, "a fault is one line");
  }
  input::DeckSource const source{"deck.yaml", text, overrides, folder, folder};
  try {
    auto const resolved = input::resolved_deck(input::parse_deck(source), source);
    input::DeckSource const again{"deck.resolved.yaml", resolved, {}, "/", "/"};
    try {
      fuzz::must(app::deck_changes(resolved, input::resolved_deck(input::parse_deck(again), again)).empty(),
                 "a resolved deck resolves to itself");
    } catch (InputError const& error) {
      std::cerr << error.what() << '\n' << resolved;
      fuzz::must(false, "a resolved deck is accepted");
    }
  } catch (InputError const& error) {
    for (auto const& fault : error.faults()) fuzz::must(fault.find('\n') == std::string::npos, "a fault is one line");
  }
  return 0;
}
