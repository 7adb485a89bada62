// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/bench/bench_checkpoint.hpp"
#include "app/bench/bench_collectives.hpp"
#include "app/bench/bench_kernels.hpp"
#include "app/bench/bench_optimizer.hpp"
#include "app/bench/bench_step.hpp"

#include <string>

namespace bellwether::app {

/// The machine on which the numbers were measured.
struct BenchMachine {
  std::string processor;  ///< its name in /proc/cpuinfo; empty if that gives none
  std::string device{};   ///< rank 0's accelerator; empty if the processor computes
  int cores = 0;          ///< of rank 0's host
  int ranks = 1, threads = 1;
  std::string mpi;

  /// Returns the machine of the calling rank; callers use rank 0's.
  static BenchMachine of(comm::World const& world);
};

/// Returns the algorithmic throughput 4 n / latency of a mean, in bytes per second.
double algorithm_speed(std::int64_t elements, CollectiveResult const& result);
/// Returns the bus throughput of a mean over P ranks: algorithm_speed() times 2 (P - 1) / P.
double bus_speed(std::int64_t elements, int ranks, CollectiveResult const& result);

std::string machine_text(BenchMachine const& machine);
/// Returns the table of one vector length, with a heading.
std::string collectives_text(std::int64_t elements, int ranks, std::vector<CollectiveResult> const& results);
std::string optimizer_text(OptimizerBenchResult const& result);
/// Returns the tables of one vector length: with one thread, and with all.
std::string kernels_text(std::int64_t elements, std::vector<KernelsResult> const& results);
std::string checkpoint_text(CheckpointBenchResult const& result);
std::string step_text(StepBench const& bench, StepResult const& result);

}  // namespace bellwether::app
