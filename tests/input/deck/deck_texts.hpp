// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"
#include "input/deck/deck.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// A folder with shards/a.h5, shards/train/a.h5 and shards/heldout/b.h5; a deck only checks that they exist.
class DeckFolder {
 public:
  DeckFolder() {
    for (auto const* name : {"shards/train", "shards/heldout"}) std::filesystem::create_directories(folder_ / name);
    std::filesystem::create_directories(folder_ / "empty");
    std::ofstream(folder_ / "shards/a.h5") << "x";
    std::ofstream(folder_ / "shards/train/a.h5") << "x";
    std::ofstream(folder_ / "shards/heldout/b.h5") << "x";
  }
  std::string path() const { return folder_.path(); }

  bellwether::input::DeckSource source(std::string text, std::vector<std::string> overrides = {}) const {
    return {"deck.yaml", std::move(text), std::move(overrides), path(), path()};
  }
  /// Returns a deck with `data` on lines 1 and 2, followed by `text`.
  bellwether::input::DeckSource with_data(std::string const& text, std::vector<std::string> overrides = {}) const {
    return source("data:\n  train: shards/train\n" + text, std::move(overrides));
  }

 private:
  TemporaryFolder folder_;
};

/// Returns the faults of a deck, in order; empty if there are none.
inline std::vector<std::string> faults_of(bellwether::input::DeckSource const& source) {
  try {
    bellwether::input::parse_deck(source);
  } catch (bellwether::InputError const& error) {
    return error.faults();
  }
  return {};
}

/// Returns the one fault of a deck made of `text` after a valid `data` section of two lines, without the deck's name.
inline std::string fault_after_data(std::string const& text) {
  DeckFolder const folder;
  auto const faults = faults_of(folder.with_data(text));
  INFO(text);
  REQUIRE(faults.size() == 1);
  REQUIRE(faults[0].starts_with("deck.yaml:"));
  return faults[0].substr(10);
}

/// Returns the one fault of a valid deck with that override, without the override itself.
inline std::string fault_of_override(std::string const& change) {
  DeckFolder const folder;
  auto const faults = faults_of(folder.with_data("", {change}));
  REQUIRE(faults.size() == 1);
  REQUIRE(faults[0].starts_with("--set " + change + ": "));
  return faults[0].substr(change.size() + 8);
}
