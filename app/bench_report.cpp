// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench_report.hpp"

#include "app/formatted.hpp"
#include "app/progress_text.hpp"
#include "app/version.hpp"
#include "comm/world.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <thread>

namespace bellwether::app {
namespace {

using Json = nlohmann::ordered_json;

std::string between(Timing const& timing) {
  return "(" + seconds_text(timing.fastest) + " to " + seconds_text(timing.slowest) + ")";
}

std::string ratio_text(double ratio) { return ratio > 0 ? formatted("%.2f", ratio) : "-"; }

std::string plain_label(std::string const& label) {
  std::string const prefix = "bellwether::";
  return label.starts_with(prefix) ? label.substr(prefix.size()) : label;
}

char const* name_of(ComputeType type) { return type == ComputeType::bf16 ? "bf16" : "fp32"; }

/// Which operands of a product are transposed.
std::string form_of(ProductResult const& p) { return {p.op_a == Op::none ? 'n' : 't', p.op_b == Op::none ? 'n' : 't'}; }

/// Checks that hold are said in a word, those that do not in full.
std::string checks_text(std::vector<Check> const& checks) {
  std::string text;
  for (auto const& check : checks)
    text += std::string(check.holds ? "    holds: " : "    DOES NOT HOLD: ") + check.claim + "\n";
  return text;
}

Json timing_json(Timing const& timing) {
  return {{"median", timing.median}, {"fastest", timing.fastest}, {"slowest", timing.slowest}};
}

Json checks_json(std::vector<Check> const& checks) {
  auto list = Json::array();
  for (auto const& check : checks) list.push_back({{"claim", check.claim}, {"holds", check.holds}});
  return list;
}

Json head(BenchMachine const& machine, char const* bench) {
  return {{"bench", bench},
          {"program", program_version()},
          {"build", build_options()},
          {"machine",
           {{"processor", machine.processor},
            {"cores", machine.cores},
            {"ranks", machine.ranks},
            {"threads_a_rank", machine.threads},
            {"mpi", machine.mpi}}}};
}

/// A line for all segments that are ready together: when the first was started, and when the last one ended.
std::string timeline_text(Timeline const& line) {
  std::string text =
      formatted("  timeline of rank 0, from the start of the pass: backward of the encoder from %s to %s\n",
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

Json exchange_json(std::vector<ExchangeRow> const& rows) {
  auto all = Json::array();
  for (auto const& row : rows)
    all.push_back({{"elements", row.elements},
                   {"sent", row.sent},
                   {"received", row.received},
                   {"passed_on", row.passed_on},
                   {"finished", row.finished}});
  return all;
}

Json timeline_json(Timeline const& line) {
  auto rows = Json::array();
  for (auto const& row : line.rows)
    rows.push_back({{"first_element", row.first},
                    {"last_element", row.last},
                    {"ready", row.ready},
                    {"started", row.started},
                    {"summed", row.summed},
                    {"finished", row.finished}});
  return {{"encoder_backward", line.encoder_backward},
          {"backward_end", line.backward_end},
          {"segments", std::move(rows)},
          {"exposed_seconds", timing_json(line.exposed)},
          {"exposed_seconds_without_overlap", timing_json(line.exposed_apart)},
          {"step_seconds", timing_json(line.step)},
          {"step_seconds_without_overlap", timing_json(line.step_apart)}};
}

}  // namespace

BenchMachine BenchMachine::of(comm::World const& world) {
  BenchMachine machine{.processor = "",
                       .cores = static_cast<int>(std::thread::hardware_concurrency()),
                       .ranks = world.size(),
                       .threads = world.threads(),
                       .mpi = world.library()};
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
         counted(machine.cores, "core") + (machine.processor.empty() ? "" : ", " + machine.processor) + "\n";
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
  std::string text = counted(result.parameters, "parameter") + ", memory at " +
                     speed_text(result.triad_bytes_per_second) + " a rank\n";
  for (auto const& phase : result.phases) {
    text += formatted("\n%s, %s: %s a step ", phase.method.c_str(), phase.phase.c_str(),
                      seconds_text(phase.step.median).c_str()) +
            between(phase.step) + formatted(", %.2f times the bound of ", phase.step.median / phase.bound_seconds) +
            seconds_text(phase.bound_seconds) +
            formatted("; state of %s, %.2f bytes a parameter\n", bytes_text(phase.state_bytes).c_str(),
                      static_cast<double>(phase.state_bytes) / n);
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
  std::string text =
      formatted("\n%s, %lld sequences of %lld a rank: %s a step ", name_of(result.type),
                static_cast<long long>(bench.sequences), static_cast<long long>(bench.length),
                seconds_text(seconds).c_str()) +
      between(result.step) + formatted(", %.0f tokens/s\n", result.tokens / seconds) +
      formatted("  %.4g GFLOP/s, %.0f %% of the %.4g that a product of 512 x 512 x 512 reaches; activations of %s\n",
                speed * 1e-9, 100 * speed / result.product_flops, result.product_flops * 1e-9,
                bytes_text(result.workspace).c_str());
  if (result.timeline) text += timeline_text(*result.timeline);
  if (bench.profile) {
    text += formatted("  profile of rank 0: %s a step with listeners; products at their own best take %s\n",
                      seconds_text(result.profiled_seconds).c_str(), seconds_text(result.bound_seconds).c_str());
    text += formatted("  %-30s %6s %10s %10s %6s\n", "product", "calls", "time", "alone", "ratio");
    for (auto const& p : result.products)
      text += formatted("  %7lld x %7lld x %7lld %s %6.4g %10s %10s %6.2f\n", static_cast<long long>(p.m),
                        static_cast<long long>(p.n), static_cast<long long>(p.k), form_of(p).c_str(), p.calls,
                        seconds_text(p.seconds).c_str(), seconds_text(p.alone).c_str(), p.seconds / p.alone);
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

std::string collectives_json(BenchMachine const& machine, SizedResults const& results) {
  auto document = head(machine, "collectives");
  document["results"] = Json::array();
  for (auto const& [elements, rows] : results)
    for (auto const& row : rows)
      document["results"].push_back({{"elements", elements},
                                     {"collective", row.name},
                                     {"latency_seconds", timing_json(row.latency)},
                                     {"algorithm_bytes_per_second", algorithm_speed(elements, row)},
                                     {"bus_bytes_per_second", bus_speed(elements, machine.ranks, row)},
                                     {"sent_bytes", row.sent_bytes},
                                     {"dense_bytes_over_sent", row.share_of_dense},
                                     {"checks", checks_json(row.checks)}});
  return document.dump(2) + "\n";
}

std::string kernels_json(BenchMachine const& machine, SizedKernels const& results) {
  auto document = head(machine, "kernels");
  document["results"] = Json::array();
  for (auto const& [elements, spaces] : results)
    for (auto const& result : spaces) {
      auto kernels = Json::array();
      for (auto const& kernel : result.kernels)
        kernels.push_back({{"kernel", kernel.name},
                           {"elements", kernel.elements},
                           {"least_bytes_an_element", kernel.bytes},
                           {"call_seconds", timing_json(kernel.call)},
                           {"bytes_per_second", speed_of(kernel)},
                           {"over_copy", kernel.over_copy},
                           {"over_triad", kernel.over_triad}});
      document["results"].push_back({{"elements", elements},
                                     {"by", result.where},
                                     {"kernels", std::move(kernels)},
                                     {"checks", checks_json(result.checks)}});
    }
  return document.dump(2) + "\n";
}

std::string optimizer_json(BenchMachine const& machine, OptimizerBenchResult const& result) {
  auto document = head(machine, "optimizer");
  document["parameters"] = result.parameters;
  document["triad_bytes_per_second"] = result.triad_bytes_per_second;
  document["results"] = Json::array();
  for (auto const& phase : result.phases) {
    auto kernels = Json::array();
    for (auto const& kernel : phase.kernels)
      kernels.push_back({{"label", kernel.label},
                         {"seconds", kernel.seconds},
                         {"least_bytes_an_element", kernel.least_bytes},
                         {"moved_bytes_an_element", kernel.moved_bytes},
                         {"over_least", kernel.over_least},
                         {"over_moved", kernel.over_moved}});
    document["results"].push_back({{"method", phase.method},
                                   {"phase", phase.phase},
                                   {"step_seconds", timing_json(phase.step)},
                                   {"bound_seconds", phase.bound_seconds},
                                   {"state_bytes", phase.state_bytes},
                                   {"kernels", std::move(kernels)},
                                   {"checks", checks_json(phase.checks)}});
    if (!phase.timeline.empty()) document["results"].back()["timeline"] = exchange_json(phase.timeline);
  }
  return document.dump(2) + "\n";
}

std::string checkpoint_json(BenchMachine const& machine, CheckpointBenchResult const& result) {
  auto document = head(machine, "checkpoint");
  document["parameters"] = result.parameters;
  document["bytes"] = result.bytes;
  document["bytes_of_rank_0"] = result.root_bytes;
  document["results"] = Json::array();
  for (auto const& one : result.results)
    document["results"].push_back({{"asynchronous", one.asynchronous},
                                   {"training_stands_seconds", timing_json(one.stands_still)},
                                   {"complete_seconds", timing_json(one.complete)},
                                   {"copy_seconds", timing_json(one.copy)},
                                   {"checks", checks_json(one.checks)}});
  return document.dump(2) + "\n";
}

std::string step_json(BenchMachine const& machine, StepBench const& bench, std::vector<StepResult> const& results) {
  auto document = head(machine, "step");
  document["sequences_a_rank"] = bench.sequences;
  document["sequence_length"] = bench.length;
  document["masked_a_sequence"] = bench.masked;
  document["results"] = Json::array();
  for (auto const& result : results) {
    Json one{{"compute", name_of(result.type)},
             {"step_seconds", timing_json(result.step)},
             {"tokens_per_second", result.tokens / result.step.median},
             {"flops_per_second", result.flops / result.step.median},
             {"product_flops_per_second", result.product_flops},
             {"workspace_bytes", result.workspace}};
    if (bench.profile) {
      one["profiled_step_seconds"] = result.profiled_seconds;
      one["products_bound_seconds"] = result.bound_seconds;
      one["products"] = Json::array();
      for (auto const& p : result.products)
        one["products"].push_back({{"m", p.m},
                                   {"n", p.n},
                                   {"k", p.k},
                                   {"form", form_of(p)},
                                   {"calls", p.calls},
                                   {"seconds", p.seconds},
                                   {"alone_seconds", p.alone}});
      one["kernels"] = Json::array();
      for (auto const& kernel : result.kernels)
        one["kernels"].push_back({{"label", kernel.label}, {"calls", kernel.calls}, {"seconds", kernel.seconds}});
    }
    if (result.timeline) one["timeline"] = timeline_json(*result.timeline);
    one["checks"] = checks_json(result.checks);
    document["results"].push_back(std::move(one));
  }
  return document.dump(2) + "\n";
}

}  // namespace bellwether::app
