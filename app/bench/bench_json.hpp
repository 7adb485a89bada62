// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/bench/bench_report.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bellwether::app {

// These functions return the results of bench_report.hpp's tables as JSON, for `--json`.

/// One entry per vector length: the number of elements, and its results.
using SizedResults = std::vector<std::pair<std::int64_t, std::vector<CollectiveResult>>>;
std::string collectives_json(BenchMachine const& machine, SizedResults const& results);
std::string optimizer_json(BenchMachine const& machine, OptimizerBenchResult const& result);
using SizedKernels = std::vector<std::pair<std::int64_t, std::vector<KernelsResult>>>;
std::string kernels_json(BenchMachine const& machine, SizedKernels const& results);
std::string checkpoint_json(BenchMachine const& machine, CheckpointBenchResult const& result);
std::string step_json(BenchMachine const& machine, StepBench const& bench, std::vector<StepResult> const& results);

}  // namespace bellwether::app
