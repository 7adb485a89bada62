// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_optimizer.hpp"

#include "app/estimate/byte_bounds.hpp"
#include "app/machine/host_memory.hpp"
#include "app/machine/kernel_times.hpp"
#include "app/machine/machine_speed.hpp"
#include "comm/transport/world.hpp"
#include "core/device/launch.hpp"
#include "core/memory/arena.hpp"
#include "core/random/random.hpp"
#include "core/system/error.hpp"
#include "model/bert/initialise.hpp"
#include "model/layout/bert_layout.hpp"
#include "model/optim/optimizer.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace bellwether::app {
namespace {

using optim::Method;

constexpr std::string_view other_kernels = "other kernels";
constexpr std::string_view transport = "transport, host";

void fill_gradients(Exec const& exec, Index count, int rank, float* gradients) {
  launch<"bellwether::app::bench_gradients">(
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, (count + 3) / 4), KOKKOS_LAMBDA(Index q) {
        Philox4 const bits = philox(static_cast<std::uint32_t>(q), static_cast<std::uint32_t>(q >> 32),
                                    static_cast<std::uint32_t>(rank), 1, 0x0b17u, 0x1a3bu);
        for (Index k = 4 * q; k < 4 * q + 4 && k < count; ++k) gradients[k] = 1e-3f * (uniform(bits.x[k % 4]) - 0.5f);
      });
}

std::vector<ExchangeRow> timeline_of(optim::StepReport const& report, Clock::time_point start) {
  std::vector<ExchangeRow> rows;
  if (report.phase != optim::Phase::compressed) return rows;
  auto const since = [&](Clock::time_point then) { return std::chrono::duration<double>(then - start).count(); };
  for (auto const& segment : report.exchange.segments)
    rows.push_back({segment.elements, since(segment.sent), since(segment.received), since(segment.passed_on),
                    since(segment.finished)});
  return rows;
}

class Bench {
 public:
  Bench(comm::World& world, OptimizerBench const& wanted)
      : bench_(wanted),
        ranks_(world.communicator()),
        layout_(model::bert_layout(wanted.model, wanted.sequence_length)),
        parameters_(layout_.table, "bellwether::app::parameters"),
        gradients_(layout_.table, "bellwether::app::gradients"),
        sample_(layout_.table, "bellwether::app::bench_gradients") {
    bench_.optimizer.bias_correction = false;
    fill_gradients(exec_, sample_.count(), ranks_.rank(), sample_.data());
  }

  OptimizerBenchResult run() {
    result_.parameters = parameters_.count();
    for (auto const method : bench_.methods) run(method);
    return std::move(result_);
  }

 private:
  /// Returns the seconds that the memory needs for these bytes at the triad's speed, measured between the phase's
  /// steps.
  double seconds_for(double bytes_an_element, PhaseResult const& phase) const {
    return bytes_an_element * static_cast<double>(parameters_.count()) / phase.triad_bytes_per_second;
  }

  void compare(PhaseResult& phase) const {
    for (auto& kernel : phase.kernels) {
      phase.bound_seconds += seconds_for(kernel.least_bytes, phase);
      if (kernel.least_bytes > 0) kernel.over_least = kernel.seconds / seconds_for(kernel.least_bytes, phase);
      if (kernel.moved_bytes > 0) kernel.over_moved = kernel.seconds / seconds_for(kernel.moved_bytes, phase);
    }
  }

  void run(Method method) {
    auto config = bench_.optimizer;
    config.method = method;
    int const steps = bench_.warmup + bench_.calls;
    bool const compresses = optim::compresses(method);
    config.freeze.step = compresses ? std::optional<std::int64_t>(steps) : std::nullopt;
    model::initialise(exec_, layout_.table, 1, 0.02, parameters_.data());
    auto const optimizer = optim::make_optimizer(
        config, {.layout = layout_.table, .groups = {ranks_}, .exec = exec_, .comm = bench_.comm, .steps = 10 * steps});
    auto const dense =
        phase(*optimizer, 1, optim::Phase::dense, name_of(method), dense_bounds(config, bench_.comm, ranks_.size()));
    ends_[method] = dense;
    Method const twin{.rule = method.rule};  // it has the same dense steps
    if (compresses && ends_.contains(twin))
      result_.phases.back().checks.push_back({"the same parameters as " + name_of(twin) + ", bit for bit",
                                              holds_everywhere(ranks_, ends_[twin] == dense)});
    if (!compresses) return;
    phase(*optimizer, steps + 1, optim::Phase::compressed, name_of(method), compressed_bounds(config, ranks_.size()));
    if (method != Method::onebit_lamb) return;  // the only one whose bytes the specification counts
    auto& compressed = result_.phases.back();
    compressed.specified_bytes = specified_bytes(ranks_.size());
    compressed.over_specified = compressed.step.median / seconds_for(compressed.specified_bytes, compressed);
  }

  /// Runs the steps from `first` on; returns the fingerprint of the parameters after them.
  std::uint64_t phase(optim::Optimizer& optimizer, int first, optim::Phase expected, std::string_view method,
                      std::vector<KernelBound> const& bounds) {
    std::vector<double> seconds, triads;
    std::vector<std::vector<double>> by_kernel(bounds.size() + 3);
    std::vector<ExchangeRow> timeline;
    bool as_expected = true;
    auto const begin = fingerprint_of(parameters_.span());
    for (int step = first; step < first + bench_.warmup + bench_.calls; ++step) {
      Kokkos::deep_copy(exec_, gradients_.flat(), sample_.flat());
      exec_.fence("bellwether::app::bench, gradients are ready before a step");
      ranks_.barrier("bellwether::app::bench_start");
      KernelTimes times;
      auto const start = Clock::now();
      optimizer.gradient_point(exec_, parameters_, 1e-3);
      optimizer.gradient_ready(exec_, gradients_, {0, parameters_.count()});
      optimizer.step(exec_, parameters_, gradients_, {.step = step, .learning_rate = 1e-3});
      exec_.fence("bellwether::app::bench, a step ends with its kernels");
      double const elapsed = seconds_since(start);
      auto const& report = optimizer.last_report();
      auto const predicted = optimizer.predicted_bytes(expected);
      as_expected = as_expected && !report.skipped && report.phase == expected && predicted &&
                    predicted->all() == report.sent.all();
      if (bench_.timeline) timeline = timeline_of(report, start);
      if (step < first + bench_.warmup) continue;
      seconds.push_back(elapsed);
      sort_in(times, elapsed, bounds, by_kernel);
      triads.push_back(triad_.pass());
    }
    auto const end = fingerprint_of(parameters_.span());
    PhaseResult phase{.method = std::string(method),
                      .phase = expected == optim::Phase::compressed ? "after the freeze" : "dense",
                      .step = timing_of(largest_over_ranks(ranks_, seconds)),
                      .triad_bytes_per_second = 1 / timing_of(largest_over_ranks(ranks_, triads)).median,
                      .state_bytes = optimizer.state_bytes(),
                      .kernels = kernel_results(bounds, by_kernel),
                      .timeline = std::move(timeline)};
    phase.checks = {{"no step is skipped, bytes are those predicted, the phase is the requested one",
                     holds_everywhere(ranks_, as_expected)},
                    {"parameters are finite", holds_everywhere(ranks_, end.finite)},
                    {"parameters have moved", holds_everywhere(ranks_, end.sum != begin.sum)},
                    {"parameters are equal on all ranks, bit for bit", equal_on_all_ranks(ranks_, end.sum)}};
    compare(phase);
    result_.phases.push_back(std::move(phase));
    return end.sum;
  }

  static void sort_in(KernelTimes const& times, double elapsed, std::vector<KernelBound> const& bounds,
                      std::vector<std::vector<double>>& by_kernel) {
    std::vector<double> step(by_kernel.size(), 0.0);
    for (auto const& entry : times.entries()) {
      auto const at = std::ranges::find(bounds, entry.label, &KernelBound::label) - bounds.begin();
      bool const copy = entry.label == KernelTimes::copies;
      step[static_cast<std::size_t>(at) + (copy ? 1 : 0)] += entry.seconds;
      elapsed -= entry.seconds;
    }
    step.back() = elapsed;
    for (std::size_t i = 0; i < step.size(); ++i) by_kernel[i].push_back(step[i]);
  }

  std::vector<KernelResult> kernel_results(std::vector<KernelBound> const& bounds,
                                           std::vector<std::vector<double>> const& by_kernel) const {
    std::vector<double> medians;
    for (auto const& seconds : by_kernel) medians.push_back(timing_of(seconds).median);
    auto const slowest = largest_over_ranks(ranks_, medians);
    std::vector<KernelResult> results;
    for (std::size_t i = 0; i < bounds.size(); ++i)
      results.push_back({.label = bounds[i].label,
                         .seconds = slowest[i],
                         .least_bytes = bounds[i].least,
                         .moved_bytes = bounds[i].moved});
    results.push_back({.label = std::string(other_kernels), .seconds = slowest[bounds.size()]});
    results.push_back({.label = KernelTimes::copies, .seconds = slowest[bounds.size() + 1]});
    results.push_back({.label = std::string(transport), .seconds = slowest[bounds.size() + 2]});
    return results;
  }

  OptimizerBench bench_;
  comm::Communicator& ranks_;
  Exec exec_;
  Triad triad_{ranks_};
  model::BertLayout layout_;
  Arena<> parameters_, gradients_, sample_;
  std::map<Method, std::uint64_t> ends_;  // fingerprints of the parameters after the dense phase
  OptimizerBenchResult result_;
};

}  // namespace

OptimizerBenchResult bench_optimizer(comm::World& world, OptimizerBench const& bench) {
  if constexpr (!on_devices)
    require_host_memory(world, model::bert_layout(bench.model, bench.sequence_length).table.count(), 0);
  return Bench(world, bench).run();
}

}  // namespace bellwether::app
