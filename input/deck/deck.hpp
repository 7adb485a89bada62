// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "input/deck/sections.hpp"
#include "model/model_config.hpp"
#include "model/optim/optimizer_config.hpp"
#include "model/optim/schedule.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// Everything a run is told. Built by read_deck() or parse_deck(), never half valid.
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

  void describe(ConfigVisitor& visit);  ///< one section a member, in this order
};

/// Text of a deck and overrides, as rank 0 read them and broadcast them.
struct DeckSource {
  std::string path;  ///< as the user gave it, or "standard input": for messages
  std::string text;
  std::vector<std::string> overrides;  ///< "a.b=c"
  std::string folder;                  ///< absolute; paths of `data` in the deck are relative to it
  std::string working_directory;       ///< absolute; of run.directory and paths in overrides
};

/// A deck that comes over a pipe or another descriptor has the working directory as its folder.
/// \throws InputError naming the file where it cannot be read.
DeckSource read_deck_source(std::string const& path, std::vector<std::string> overrides);
/// Whether what a deck's paths name is looked at: for those who neither read nor write it, it need not be there.
enum class DeckPaths { checked, unused };
/// Reads strictly and checks keys against each other and paths against the file system; nothing is created. Paths of
/// the result are absolute.
/// \throws InputError with every fault in order of lines, each `deck.yaml:12:5: optimizer.lr: what; what is allowed`
/// or `--set optimizer.lr=x: what; what is allowed`.
Deck parse_deck(DeckSource const& source, DeckPaths paths = DeckPaths::checked);
/// Faults found after parsing, in the form of parse_deck(): `data.train: what` gets the place that decides the key's
/// value. Faults that name no key of the source stay as they are. `source` is one that parse_deck() accepted.
std::vector<std::string> placed_faults(DeckSource const& source, std::vector<std::string> const& faults);
/// YAML with every key, its value and its origin, which parses back to the same deck from any folder. Keys that do not
/// apply (schedule.power without polynomial decay) stand in comments. A resolved deck that is kept in the run directory
/// names it as its own folder, so that both may be moved.
enum class DeckPlace { anywhere, run_directory };
std::string resolved_deck(Deck const& deck, DeckSource const& source, DeckPlace place = DeckPlace::anywhere);
/// Every key with type, range, default, unit and help: plain text, and Markdown for docs.
std::string deck_schema();
std::string deck_reference_markdown();

}  // namespace bellwether::input
