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
                 .help = "folder for everything that a run writes, new or to resume; relative to the working "
                         "directory; . in a deck: the deck's folder"},
                directory);
    visit.field({.name = "name", .help = "title in reports"}, name);
    visit.field({.name = "seed",
                 .help = "seed of initial weights, sample order, masks and dropout",
                 .minimum = 0,
                 .maximum = 9.0e15},
                seed);
    visit.field({.name = "walltime",
                 .help = "time limit of the job, counted from the start of the program; training stops early enough "
                         "for the last step and checkpoint"},
                walltime);
    visit.field(
        {.name = "verify_every",
         .help = "steps between comparisons of the replicated state across ranks, also made at the end; 0: never",
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
                 .help = "draw masks during training if shards hold unmasked ids, and warn if they hold static masks; "
                         "false: shards must hold static masks"},
                dynamic_masking);
    visit.field({.name = "mask_probability",
                 .help = "share of a sequence's tokens to predict, if masks are drawn",
                 .minimum = 0,
                 .maximum = 1,
                 .minimum_allowed = false,
                 .only_with = "dynamic_masking: true",
                 .applies = dynamic_masking},
                mask_probability);
    visit.field({.name = "window",
                 .help = "samples that are shuffled together, in pieces from all shards; an epoch reads each "
                         "compressed HDF5 chunk once",
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
        {.name = "global", .help = "sequences per optimizer step, over all ranks", .minimum = 1, .maximum = 1 << 24},
        global);
    visit.field({.name = "micro",
                 .help = "most sequences per micro-batch on a rank; the gradients of more are accumulated",
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
    visit.field({.name = "keep", .help = "newest complete checkpoints to keep; 0: all", .minimum = 0, .maximum = 1e6},
                keep);
    visit.choice(
        {.name = "worker_error",
         .help = "how the residuals of a 1-bit method are saved; they differ between ranks. With 'exact': those of "
                 "every rank, and a run resumes bit for bit. With 'mean': only their mean, with which every "
                 "rank resumes, as on another number of ranks"},
        {"exact", "mean"}, worker_error);
    visit.field({.name = "asynchronous",
                 .help = "training continues while a copy of the state is written; false: saves the memory for the "
                         "copy, and training waits until the checkpoint is complete"},
                asynchronous);
    visit.field(
        {.name = "failure_limit",
         .help = "number of consecutive failed checkpoints or statistics writes that ends the run; fewer give warnings",
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
                 .help = "held-out sequences per evaluation, always the same ones",
                 .minimum = 1,
                 .maximum = 1 << 30},
                evaluate_sequences);
    visit.field({.name = "print_every",
                 .help = "steps between progress lines if the output is not a terminal",
                 .unit = "steps",
                 .minimum = 1,
                 .maximum = 1e9},
                print_every);
    visit.field({.name = "noise_beta",
                 .help = "decay per step of the averages for the gradient noise scale",
                 .minimum = 0,
                 .maximum = 1,
                 .maximum_allowed = false},
                noise_beta);
  }
};

}  // namespace bellwether::input
