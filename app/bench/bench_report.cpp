// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_report.hpp"

#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "comm/transport/world.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

namespace bellwether::app {
namespace {

std::string between(Timing const& timing) {
  return "(" + seconds_text(timing.fastest) + " to " + seconds_text(timing.slowest) + ")";
}

std::string ratio_text(double ratio) { return ratio > 0 ? formatted("%.2f", ratio) : "-"; }

std::string plain_label(std::string const& label) {
  std::string const prefix = "bellwether::";
  return label.starts_with(prefix) ? label.substr(prefix.size()) : label;
}

/// Returns one line per check.
std::string checks_text(std::vector<Check> const& checks) {
  std::string text;
  for (auto const& check : checks)
    text += std::string(check.holds ? "    holds: " : "    DOES NOT HOLD: ") + check.claim + "\n";
  return text;
}

/// Returns the timeline of the dense mean. A line covers all segments that are ready at the same time: `started` is
/// that of the first segment, `finished` that of the last.
std::string timeline_text(Timeline const& line) {
  std::string text = formatted(
      "  timeline of rank 0, from the start of the forward pass: backward pass of the encoder from %s to %s\n",
      seconds_text(line.encoder_backward).c_str(), seconds_text(line.backward_end).c_str());
  text += formatted("  %13s %13s %8s %11s %11s %11s %11s\n", "elements from", "to", "segments", "ready", "started",
                    "summed", "finished");
  for (auto first = line.rows.begin(); first != line.rows.end();) {
    auto const next = std::find_if(first, line.rows.end(), [&](auto const& row) { return row.ready > first->ready; });
    auto const& last = *std::prev(next);
    text += formatted("  %13lld %13lld %8lld %11s %11s %11s %11s\n", static_cast<long long>(last.first),
                      static_cast<long long>(first->last), static_cast<long long>(next - first),
                      seconds_text(first->ready).c_str(), seconds_text(first->started).c_str(),
                      seconds_text(last.summed).c_str(), seconds_text(last.finished).c_str());
    first = next;
  }
  auto const one = [](char const* name, Timing const& exposed, Timing const& step) {
    return formatted("  %-16s exchange after backward %s ", name, seconds_text(exposed.median).c_str()) +
           between(exposed) + ", a step " + seconds_text(step.median) + " " + between(step) + "\n";
  };
  return text + one("with overlap:", line.exposed, line.step) +
         one("without overlap:", line.exposed_apart, line.step_apart);
}

std::string exchange_text(std::vector<ExchangeRow> const& rows) {
  if (rows.empty()) return {};
  std::string text = "  timeline of rank 0 in the last step, from its start\n";
  text += formatted("  %13s %11s %11s %11s %11s\n", "elements", "sent", "received", "passed on", "finished");
  for (auto const& row : rows)
    text += formatted("  %13lld %11s %11s %11s %11s\n", static_cast<long long>(row.elements),
                      seconds_text(row.sent).c_str(), seconds_text(row.received).c_str(),
                      seconds_text(row.passed_on).c_str(), seconds_text(row.finished).c_str());
  return text;
}

}  // namespace

BenchMachine BenchMachine::of(comm::World const& world) {
  BenchMachine machine{.processor = "",
                       .cores = static_cast<int>(std::thread::hardware_concurrency()),
                       .ranks = world.size(),
                       .threads = world.threads(),
                       .mpi = world.library()};
  if (!world.devices().empty()) machine.device = world.devices().front();
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && machine.processor.empty();)
    if (line.starts_with("model name")) machine.processor = line.substr(std::min(line.find(':') + 2, line.size()));
  return machine;
}

double algorithm_speed(std::int64_t elements, CollectiveResult const& result) {
  return 4.0 * static_cast<double>(elements) / result.latency.median;
}

double bus_speed(std::int64_t elements, int ranks, CollectiveResult const& result) {
  return algorithm_speed(elements, result) * 2 * (ranks - 1) / ranks;
}

std::string machine_text(BenchMachine const& machine) {
  return counted(machine.ranks, "rank") + " with " + counted(machine.threads, "thread") + " on " +
         counted(machine.cores, "core") + (machine.processor.empty() ? "" : ", " + machine.processor) +
         (machine.device.empty() ? "" : "; " + machine.device) + "\n";
}

std::string collectives_text(std::int64_t elements, int ranks, std::vector<CollectiveResult> const& results) {
  std::string text = formatted("\n%lld elements\n", static_cast<long long>(elements));
  text += formatted("  %-20s %10s  %-26s %11s %11s %13s %10s\n", "", "a call", "(fastest to slowest)", "algorithm",
                    "bus", "bytes sent", "dense over");
  for (auto const& result : results) {
    text += formatted("  %-20s %10s  %-26s %11s %11s %13lld %10s\n", result.name.c_str(),
                      seconds_text(result.latency.median).c_str(), between(result.latency).c_str(),
                      ranks > 1 ? speed_text(algorithm_speed(elements, result)).c_str() : "-",
                      ranks > 1 ? speed_text(bus_speed(elements, ranks, result)).c_str() : "-",
                      static_cast<long long>(result.sent_bytes), ratio_text(result.share_of_dense).c_str());
    text += checks_text(result.checks);
  }
  return text;
}

std::string kernels_text(std::int64_t elements, std::vector<KernelsResult> const& results) {
  std::string text;
  for (auto const& result : results) {
    text += formatted("\n%lld elements, %s\n", static_cast<long long>(elements), result.where.c_str());
    text += formatted("  %-26s %10s  %-26s %8s %11s %8s %8s\n", "", "a call", "(fastest to slowest)", "least B",
                      "speed", "of copy", "of triad");
    for (auto const& kernel : result.kernels)
      text += formatted("  %-26s %10s  %-26s %8.4g %11s %6.0f %% %6.0f %%\n", kernel.name.c_str(),
                        seconds_text(kernel.call.median).c_str(), between(kernel.call).c_str(), kernel.bytes,
                        speed_text(speed_of(kernel)).c_str(), 100 * kernel.over_copy, 100 * kernel.over_triad);
    text += checks_text(result.checks);
  }
  return text;
}

std::string optimizer_text(OptimizerBenchResult const& result) {
  auto const n = static_cast<double>(result.parameters);
  std::string text = counted(result.parameters, "parameter") + "\n";
  for (auto const& phase : result.phases) {
    text += formatted("\n%s, %s: %s a step ", phase.method.c_str(), phase.phase.c_str(),
                      seconds_text(phase.step.median).c_str()) +
            between(phase.step) + formatted(", %.2f times the bound of ", phase.step.median / phase.bound_seconds) +
            seconds_text(phase.bound_seconds) + ", memory at " + speed_text(phase.triad_bytes_per_second) +
            formatted(" a rank; state of %s, %.2f bytes a parameter\n", bytes_text(phase.state_bytes).c_str(),
                      static_cast<double>(phase.state_bytes) / n);
    if (phase.specified_bytes > 0)
      text += formatted("  %.2f times the bound of the specification's %.2f bytes, the paper's form\n",
                        phase.over_specified, phase.specified_bytes);
    text += formatted("  %-30s %10s %8s %8s %8s %8s\n", "kernel", "time", "least B", "ratio", "moves B", "ratio");
    for (auto const& kernel : phase.kernels) {
      text += formatted("  %-30s %10s", plain_label(kernel.label).c_str(), seconds_text(kernel.seconds).c_str());
      if (kernel.moved_bytes > 0)
        text += formatted(" %8.2f %8s %8.2f %8s", kernel.least_bytes, ratio_text(kernel.over_least).c_str(),
                          kernel.moved_bytes, ratio_text(kernel.over_moved).c_str());
      text += "\n";
    }
    text += exchange_text(phase.timeline) + checks_text(phase.checks);
  }
  return text;
}

std::string step_text(StepBench const& bench, StepResult const& result) {
  double const seconds = result.step.median, speed = result.flops / seconds;
  auto const side = static_cast<long long>(result.product_side);
  std::string text =
      formatted("\n%s, %lld sequences of %lld a rank: %s a step ", compute_type_name(result.type),
                static_cast<long long>(bench.sequences), static_cast<long long>(bench.length),
                seconds_text(seconds).c_str()) +
      between(result.step) + formatted(", %.0f tokens/s\n", result.tokens / seconds) +
      formatted("  %.4g GFLOP/s, %.0f %% of the %.4g that a product of %lld x %lld x %lld reaches; activations of %s\n",
                speed * 1e-9, 100 * speed / result.product_flops, result.product_flops * 1e-9, side, side, side,
                bytes_text(result.workspace).c_str());
  if (result.recorded)
    text += formatted("  recorded as one launch: %s a step ", seconds_text(result.recorded->median).c_str()) +
            between(*result.recorded) +
            formatted("; launches and waits take %.1f %%\n", 100 * (1 - result.recorded->median / seconds));
  if (result.timeline) text += timeline_text(*result.timeline);
  if (bench.profile) {
    text += formatted("  profile of rank 0: %s a step with profiling; products at their fastest take %s\n",
                      seconds_text(result.profiled_seconds).c_str(), seconds_text(result.bound_seconds).c_str());
    text +=
        formatted("  %-30s %6s %10s %10s %6s %14s\n", "product", "calls", "time", "alone", "ratio", "GFLOP/s alone");
    for (auto const& p : result.products)
      text += formatted("  %7lld x %7lld x %7lld %s %6.4g %10s %10s %6.2f %14.4g\n", static_cast<long long>(p.m),
                        static_cast<long long>(p.n), static_cast<long long>(p.k), p.form().c_str(), p.calls,
                        seconds_text(p.seconds).c_str(), seconds_text(p.alone).c_str(), p.seconds / p.alone,
                        p.speed_alone() * 1e-9);
    text += formatted("  %-44s %6s %10s %6s\n", "kernel", "calls", "time", "share");
    for (auto const& kernel : result.kernels)
      text += formatted("  %-44s %6.4g %10s %5.1f%%\n", plain_label(kernel.label).c_str(), kernel.calls,
                        seconds_text(kernel.seconds).c_str(), 100 * kernel.seconds / result.profiled_seconds);
  }
  return text + checks_text(result.checks);
}

std::string checkpoint_text(CheckpointBenchResult const& result) {
  std::string text =
      formatted("\n%lld parameters: %s a checkpoint, %s of it by rank 0\n", static_cast<long long>(result.parameters),
                bytes_text(result.bytes).c_str(), bytes_text(result.root_bytes).c_str());
  text += formatted("  %-12s %16s %10s %6s %12s %12s\n", "asynchronous", "training stands", "one copy", "ratio",
                    "complete", "written at");
  for (auto const& one : result.results) {
    text += formatted("  %-12s %16s %10s %6.2f %12s %12s\n", one.asynchronous ? "true" : "false",
                      seconds_text(one.stands_still.median).c_str(), seconds_text(one.copy.median).c_str(),
                      one.stands_still.median / one.copy.median, seconds_text(one.complete.median).c_str(),
                      speed_text(static_cast<double>(result.bytes) / one.complete.median).c_str());
    text += checks_text(one.checks);
  }
  return text;
}

}  // namespace bellwether::app
