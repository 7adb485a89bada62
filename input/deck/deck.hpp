// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "input/deck/sections.hpp"
#include "input/files/wait_for_bytes.hpp"
#include "model/model_config.hpp"
#include "model/optim/optimizer_config.hpp"
#include "model/optim/schedule.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// The complete configuration of a run. read_deck_source() and parse_deck() build it; an invalid deck is never
/// returned.
struct Deck {
  RunConfig run;
  DataConfig data;
  BatchConfig batch;
  model::ModelConfig model;
  optim::OptimizerConfig optimizer;
  optim::ScheduleConfig schedule;
  comm::CommConfig comm;
  CheckpointConfig checkpoint;
  StatisticsConfig statistics;

  void describe(ConfigVisitor& visit);  ///< visits one section per member, in this order
};

/// The text of a deck and its overrides. Rank 0 reads them and broadcasts them.
struct DeckSource {
  std::string path;  ///< as the user gave it, or "standard input"; used in messages
  std::string text;
  std::vector<std::string> overrides;  ///< "a.b=c"
  std::string folder;                  ///< absolute; base of relative paths in the deck's `data` section
  std::string working_directory;       ///< absolute; base of relative paths in overrides and in run.directory
};

/// Reads a deck file. A deck read from a pipe or another descriptor has the working directory as its folder.
///
/// poll: ends a wait for a pipe or terminal by throwing. \throws InputError naming the file if it cannot be read.
DeckSource read_deck_source(std::string const& path, std::vector<std::string> overrides, WaitPoll const& poll = {});
/// Selects whether parse_deck() checks that the deck's paths exist. Commands that neither read nor write them pass
/// `unused`.
enum class DeckPaths { checked, unused };
/// Parses a deck strictly. Checks keys against each other and paths against the file system; creates nothing. The paths
/// in the result are absolute.
/// \throws InputError with every fault, ordered by line, each as `deck.yaml:12:5: optimizer.lr: what; what is allowed`
/// or `--set optimizer.lr=x: what; what is allowed`.
Deck parse_deck(DeckSource const& source, DeckPaths paths = DeckPaths::checked);
/// Returns a warning that names the keys of the deck that an override of optimizer.method made inapplicable; nothing
/// without such keys. `source` must be one that parse_deck() accepted.
std::vector<std::string> override_warnings(DeckSource const& source);
/// Adds file positions to faults that were found after parsing: `data.train: what` gets the place that sets the key's
/// value, in the format of parse_deck(). Faults that name no key of the source are returned unchanged. `source` must be
/// one that parse_deck() accepted.
std::vector<std::string> placed_faults(DeckSource const& source, std::vector<std::string> const& faults);
/// Returns YAML with every key, its value and its origin. It parses back to the same deck from any folder. Keys that do
/// not apply (schedule.power without polynomial decay) are written as comments. With DeckPlace::run_directory the text
/// uses `.` as run.directory, so that the run directory can be moved.
enum class DeckPlace { anywhere, run_directory };
std::string resolved_deck(Deck const& deck, DeckSource const& source, DeckPlace place = DeckPlace::anywhere);
/// Returns every key with type, range, default, unit and help: as plain text, and as Markdown for the documentation.
std::string deck_schema();
std::string deck_reference_markdown();

}  // namespace bellwether::input
