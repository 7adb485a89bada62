// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// Deck section `run`.
struct RunConfig {
  std::string directory = "run";
  std::string name = "bellwether";
  std::int64_t seed = 1;
  std::optional<std::chrono::seconds> walltime;
  std::int64_t verify_every = 1000;

  void describe(ConfigVisitor& visit) {
    visit.field({.name = "directory",
                 .help = "everything a run writes goes here: a new folder, or one to resume; relative to where the "
                         "program is started, . in a deck: the deck's folder"},
                directory);
    visit.field({.name = "name", .help = "title in reports"}, name);
    visit.field(
        {.name = "seed", .help = "seed of initial weights, order, masks and dropout", .minimum = 0, .maximum = 9.0e15},
        seed);
    visit.field(
        {.name = "walltime",
         .help = "the job's time limit, counted from the start of the program: training stops ahead of it, early "
                 "enough for its last step and checkpoint"},
        walltime);
    visit.field({.name = "verify_every",
                 .help = "how often the state that all ranks hold alike is compared between them, and once more at the "
                         "end; 0 never",
                 .unit = "steps",
                 .minimum = 0,
                 .maximum = 1e12},
                verify_every);
  }
};

/// Deck section `data`. Relative paths are relative to the deck's folder.
struct DataConfig {
  std::vector<std::string> train;
  std::vector<std::string> heldout;
  bool dynamic_masking = true;
  double mask_probability = 0.15;
  std::int64_t window = 16384;

  void describe(ConfigVisitor& visit) {
    visit.field({.name = "train",
                 .help = "shards to train on: HDF5 files or folders of them, relative to the deck",
                 .required = true},
                train);
    visit.field({.name = "heldout", .help = "shards to evaluate on, relative to the deck; []: no evaluation"}, heldout);
    visit.field({.name = "dynamic_masking",
                 .help = "draw masks at training time where shards hold unmasked ids, and warn where they hold static "
                         "masks; false: shards must hold static masks"},
                dynamic_masking);
    visit.field({.name = "mask_probability",
                 .help = "share of a sequence's tokens to predict, when masks are drawn",
                 .minimum = 0,
                 .maximum = 1,
                 .minimum_allowed = false,
                 .only_with = "dynamic_masking: true",
                 .applies = dynamic_masking},
                mask_probability);
    visit.field({.name = "window",
                 .help = "samples shuffled together, in pieces from all shards: compressed chunks are read once",
                 .unit = "samples",
                 .minimum = 1,
                 .maximum = 1 << 30},
                window);
  }
};

/// Deck section `batch`.
struct BatchConfig {
  std::int64_t global = 32;
  std::int64_t micro = 32;

  void describe(ConfigVisitor& visit) {
    visit.field(
        {.name = "global", .help = "sequences an optimizer step, over all ranks", .minimum = 1, .maximum = 1 << 24},
        global);
    visit.field({.name = "micro",
                 .help = "most sequences a rank handles in one pass; more are accumulated",
                 .minimum = 1,
                 .maximum = 1 << 20},
                micro);
  }
};

/// How checkpoints store the state that differs between ranks, mainly the compression residuals.
enum class WorkerError { exact, mean };

/// Deck section `checkpoint`.
struct CheckpointConfig {
  std::int64_t every = 1000;
  std::int64_t keep = 2;
  WorkerError worker_error = WorkerError::exact;
  bool asynchronous = true;
  std::int64_t failure_limit = 3;

  void describe(ConfigVisitor& visit) {
    visit.field({.name = "every",
                 .help = "steps between checkpoints; 0: only at the end and when interrupted",
                 .unit = "steps",
                 .minimum = 0,
                 .maximum = 1e12},
                every);
    visit.field({.name = "keep", .help = "newest complete checkpoints kept; 0: all", .minimum = 0, .maximum = 1e6},
                keep);
    visit.choice(
        {.name = "worker_error",
         .help = "what is saved of the residuals that each rank of a 1-bit method has for itself: 'exact', every "
                 "rank's own, resumes bit for bit; 'mean', the mean over ranks alone, writes the number of "
                 "ranks times less, and every rank resumes with it, as on another number of ranks"},
        {"exact", "mean"}, worker_error);
    visit.field(
        {.name = "asynchronous",
         .help = "training goes on while a copy of the state is written; false: takes no memory for a copy, and "
                 "training waits until the checkpoint is complete"},
        asynchronous);
    visit.field({.name = "failure_limit",
                 .help = "checkpoints, or writes of statistics, in a row that cannot be made before the run ends; one "
                         "that fails before is a warning",
                 .minimum = 1,
                 .maximum = 1e6},
                failure_limit);
  }
};

/// Deck section `statistics`.
struct StatisticsConfig {
  std::int64_t every = 1;
  std::int64_t layers_every = 10;
  std::int64_t flush = 20;
  std::int64_t evaluate_every = 100;
  std::int64_t evaluate_sequences = 512;
  std::int64_t print_every = 10;
  double noise_beta = 0.99;

  void describe(ConfigVisitor& visit) {
    visit.field(
        {.name = "every", .help = "steps between rows of /steps", .unit = "steps", .minimum = 1, .maximum = 1e9},
        every);
    visit.field({.name = "layers_every",
                 .help = "steps between rows of /layers",
                 .unit = "steps",
                 .minimum = 1,
                 .maximum = 1e9},
                layers_every);
    visit.field(
        {.name = "flush", .help = "steps between writes to disk", .unit = "steps", .minimum = 1, .maximum = 1e9},
        flush);
    visit.field({.name = "evaluate_every",
                 .help = "steps between held-out evaluations; 0: only at the end",
                 .unit = "steps",
                 .minimum = 0,
                 .maximum = 1e9},
                evaluate_every);
    visit.field({.name = "evaluate_sequences",
                 .help = "held-out sequences an evaluation; the same ones each time",
                 .minimum = 1,
                 .maximum = 1 << 30},
                evaluate_sequences);
    visit.field({.name = "print_every",
                 .help = "steps between progress lines where output is not a terminal",
                 .unit = "steps",
                 .minimum = 1,
                 .maximum = 1e9},
                print_every);
    visit.field({.name = "noise_beta",
                 .help = "decay a step of the averages that the gradient noise scale is made from",
                 .minimum = 0,
                 .maximum = 1,
                 .maximum_allowed = false},
                noise_beta);
  }
};

}  // namespace bellwether::input
