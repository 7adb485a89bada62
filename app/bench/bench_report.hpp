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

/// Where numbers come from: without it they say little.
struct BenchMachine {
  std::string processor;  ///< as the system names it, empty where it does not
  std::string device{};   ///< what computes, where that is not the processor
  int cores = 0;          ///< of this host
  int ranks = 1, threads = 1;
  std::string mpi;

  /// Of rank 0.
  static BenchMachine of(comm::World const& world);
};

/// Algorithmic throughput 4 n / latency of a mean over P ranks, bytes a second; on the bus: times 2 (P - 1) / P.
double algorithm_speed(std::int64_t elements, CollectiveResult const& result);
double bus_speed(std::int64_t elements, int ranks, CollectiveResult const& result);

std::string machine_text(BenchMachine const& machine);
/// One vector's rows of the table, with a heading.
std::string collectives_text(std::int64_t elements, int ranks, std::vector<CollectiveResult> const& results);
std::string optimizer_text(OptimizerBenchResult const& result);
/// One size of vectors, by one thread and by all.
std::string kernels_text(std::int64_t elements, std::vector<KernelsResult> const& results);
std::string checkpoint_text(CheckpointBenchResult const& result);
std::string step_text(StepBench const& bench, StepResult const& result);

}  // namespace bellwether::app
