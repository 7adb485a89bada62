// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_json.hpp"
#include "app/bench/bench_report.hpp"
#include "app/checkpoint/durable_file.hpp"
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/output_file.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/train/deck_broadcast.hpp"
#include "comm/transport/world.hpp"
#include "input/deck/suggestion.hpp"
#include "input/files/no_room.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

namespace bellwether::app {
namespace {

constexpr int exit_failed = 1;

/// Options of all benches.
struct Common {
  std::string json;
  int calls = 10, warmup = 10;
};

struct Size {
  char const* name;
  std::int64_t layers, hidden, heads;
  std::int64_t sequences;  ///< per rank and step, in bench step
};
/// The sizes of the shipped decks.
constexpr std::array<Size, 6> sizes{{{"tiny", 2, 128, 2, 32},
                                     {"mini", 4, 256, 4, 32},
                                     {"small", 4, 512, 8, 16},
                                     {"medium", 8, 512, 8, 16},
                                     {"base", 12, 768, 12, 8},
                                     {"large", 24, 1024, 16, 4}}};

void add_common(Command command, Common& common) {
  command.option("--calls", common.calls, "timed calls").check(whole_numbers(1, 10000)).show_default();
  command.option("--warmup", common.warmup, "untimed calls before them").check(whole_numbers(1, 10000)).show_default();
  command
      .option("--json", common.json,
              "also write the results as JSON to this file; -: to standard output, and tables to standard error")
      .check({[](std::string const& file) {
                return file.empty() ? "the name is empty; name a file, or - for standard output" : "";
              },
              ""})
      .check(paths());
}

void add_model(Command command, std::string& model) {
  command.option("--model", model, "size of the model: tiny, mini, small, medium, base or large, or a deck, DECK.yaml")
      .check(paths())
      .type_name("SIZE|DECK")
      .show_default();
}

/// Collective. Checks that the file can be written, before the bench runs for minutes. \throws CommonError if not.
void require_writable(comm::World& world, std::string const& path) {
  together(world.group(), [&] {
    if (world.rank() != 0 || path.empty() || path == "-") return;
    try {
      require_output_file(path, bench_results);
    } catch (input::NoRoom const& error) {
      throw RuntimeError(std::string("--json: ") + error.what());
    } catch (std::exception const& error) {
      throw InputError(std::string("--json: ") + error.what());
    }
  });
}

/// Returns the stream for tables: standard error if JSON goes to standard output.
std::ostream& tables(Common const& common) { return common.json == "-" ? std::cerr : std::cout; }

/// Writes the JSON output; returns the exit code.
int conclude(Session const& session, Common const& common, std::string const& json, bool all_hold) {
  if (session.rank() == 0) {
    if (common.json == "-")
      std::cout << json;
    else if (!common.json.empty())
      write_chosen_file(common.json, json);
    if (!all_hold) std::cerr << "error: a result is wrong; see DOES NOT HOLD above\n";
  }
  return all_hold ? 0 : exit_failed;
}

bool all_hold(std::vector<Check> const& checks) { return std::ranges::all_of(checks, &Check::holds); }

/// Runs bench(count) for each number of elements and prints its table, text(count, rows).
template <class Results, class Bench, class Text, class Json>
int run_for_each(std::vector<std::int64_t> const& elements, Common const& common, Session& session, Bench const& bench,
                 Text const& text, Json const& json) {
  auto& world = session.world();
  require_writable(world, common.json);
  auto const machine = BenchMachine::of(world);
  if (session.rank() == 0) tables(common) << machine_text(machine);
  Results results;
  bool hold = true;
  for (auto const count : elements) {
    results.emplace_back(count, bench(count));
    auto const& rows = results.back().second;
    for (auto const& row : rows) hold = hold && all_hold(row.checks);
    if (session.rank() == 0) tables(common) << text(count, rows) << std::flush;
  }
  return conclude(session, common, json(machine, results), hold);
}

int run_collectives(std::vector<std::int64_t> const& elements, Common const& common, Session& session) {
  auto& world = session.world();
  return run_for_each<SizedResults>(
      elements, common, session,
      [&](std::int64_t count) {
        return bench_collectives(world, {.elements = count, .warmup = common.warmup, .calls = common.calls});
      },
      [&](std::int64_t count, auto const& rows) { return collectives_text(count, world.size(), rows); },
      collectives_json);
}

int run_kernels(std::vector<std::int64_t> const& elements, Common const& common, Session& session) {
  return run_for_each<SizedKernels>(
      elements, common, session,
      [&](std::int64_t count) {
        return bench_kernels(session.world(), {.elements = count, .warmup = common.warmup, .calls = common.calls});
      },
      kernels_text, kernels_json);
}

/// The configuration that --model selects, by the name of a size or by a deck.
struct Subject {
  model::ModelConfig model;
  optim::OptimizerConfig optimizer;
  comm::CommConfig comm;
  std::vector<optim::Method> methods;
  std::int64_t sequences = 0;  ///< of a micro-batch
};

/// Returns the names of all methods, or of those without a freeze.
std::vector<std::string> names_of_methods(bool with_freeze) {
  std::vector<std::string> names;
  for (auto const& method : optim::named_methods())
    if (with_freeze || !compresses(method)) names.push_back(name_of(method));
  return names;
}

Subject subject_of(std::string const& model, comm::World& world) {
  auto const size = std::ranges::find_if(sizes, [&](auto const& each) { return model == each.name; });
  if (size != sizes.end()) {
    Subject subject{
        .model = {}, .optimizer = {}, .comm = {}, .methods = optim::named_methods(), .sequences = size->sequences};
    subject.model.layers = size->layers;
    subject.model.hidden = size->hidden;
    subject.model.heads = size->heads;
    subject.model.feed_forward = 4 * size->hidden;
    return subject;
  }
  if (!model.ends_with(".yaml")) {
    std::vector<std::string> names;
    for (auto const& each : sizes) names.emplace_back(each.name);
    throw CommonError("--model: '" + model + "'" + input::did_you_mean(model, names) + "; one of " +
                      input::joined(names) + ", or a deck, DECK.yaml");
  }
  auto const deck = read_shared_deck(world.group(), model, {}, input::DeckPaths::unused).deck;
  if (deck.comm.hierarchy != comm::Hierarchy::none)
    throw CommonError(model + ": comm.hierarchy: node, but bench compares with an exchange between all ranks; " +
                      "allowed: none");
  return {.model = deck.model,
          .optimizer = deck.optimizer,
          .comm = deck.comm,
          .methods = {deck.optimizer.method},
          .sequences = deck.batch.micro};
}

void require_exchange(comm::World const& world) {
  if (world.size() == 1) throw CommonError("--timeline: one rank exchanges nothing; at least 2 are needed");
}

int run_optimizer(std::string const& model, std::vector<std::string> const& methods, bool timeline,
                  Common const& common, Session& session) {
  auto& world = session.world();
  if (timeline) require_exchange(world);
  auto const subject = subject_of(model, world);
  require_writable(world, common.json);
  OptimizerBench bench{.model = subject.model,
                       .optimizer = subject.optimizer,
                       .methods = subject.methods,
                       .comm = subject.comm,
                       .timeline = timeline,
                       .warmup = common.warmup,
                       .calls = common.calls};
  if (!methods.empty()) bench.methods.clear();
  for (auto const& name : methods) bench.methods.push_back(optim::method_of(name).value());
  auto const machine = BenchMachine::of(world);
  auto const result = bench_optimizer(world, bench);
  if (session.rank() == 0) tables(common) << machine_text(machine) << optimizer_text(result);
  bool const hold = std::ranges::all_of(result.phases, [](auto const& phase) { return all_hold(phase.checks); });
  return conclude(session, common, optimizer_json(machine, result), hold);
}

int run_checkpoint(std::string const& model, std::string const& directory, Common const& common, Session& session) {
  auto& world = session.world();
  auto const subject = subject_of(model, world);
  require_writable(world, common.json);
  auto const machine = BenchMachine::of(world);
  if (session.rank() == 0) tables(common) << machine_text(machine);
  auto const result = bench_checkpoint(
      world, {.model = subject.model, .directory = directory, .warmup = common.warmup, .calls = common.calls});
  if (session.rank() == 0) tables(common) << checkpoint_text(result);
  bool const hold = std::ranges::all_of(result.results, [](auto const& one) { return all_hold(one.checks); });
  return conclude(session, common, checkpoint_json(machine, result), hold);
}

struct StepOptions : Common {
  std::string model = "tiny", method = "adamw";
  std::vector<std::string> types{"fp32", "bf16"};
  std::int64_t sequences = 0, length = 128, masked = 20;
  bool profile = false, timeline = false;
};

int run_step(StepOptions const& options, Session& session) {
  auto& world = session.world();
  auto const subject = subject_of(options.model, world);
  if (options.length > subject.model.positions)
    throw CommonError("--length: " + std::to_string(options.length) + " tokens, but the model has " +
                      std::to_string(subject.model.positions) + " positions; allowed: at most as many");
  if (options.masked >= options.length)
    throw CommonError("--masked: " + std::to_string(options.masked) + " of " + std::to_string(options.length) +
                      " tokens; allowed: fewer than --length");
  if (options.timeline) require_exchange(world);
  require_writable(world, options.json);
  StepBench bench{.model = subject.model,
                  .types = {},
                  .sequences = options.sequences > 0 ? options.sequences : subject.sequences,
                  .length = options.length,
                  .masked = options.masked,
                  .optimizer = subject.optimizer,
                  .comm = subject.comm,
                  .warmup = options.warmup,
                  .calls = options.calls,
                  .profile = options.profile,
                  .timeline = options.timeline};
  bench.optimizer.method = optim::method_of(options.method).value();
  for (auto const& type : options.types) bench.types.push_back(type == "bf16" ? ComputeType::bf16 : ComputeType::fp32);
  auto const machine = BenchMachine::of(world);
  if (session.rank() == 0) tables(options) << machine_text(machine);
  auto const results = bench_step(world, bench);
  bool hold = true;
  for (auto const& result : results) {
    hold = hold && all_hold(result.checks);
    if (session.rank() == 0) tables(options) << step_text(bench, result);
  }
  return conclude(session, options, step_json(machine, bench, results), hold);
}

void add_step(Command bench) {
  auto options = std::make_shared<StepOptions>();
  auto const command = bench.subcommand("step", "Whole training steps on random tokens without padding");
  add_model(command, options->model);
  command.option("--compute", options->types, "fp32, bf16 or both, separated by a comma")
      .separated_by(',')
      .check(one_of({"fp32", "bf16"}))
      .type_name("TYPE,...")
      .show_default();
  command.option("--method", options->method, "a method without a freeze")
      .check(one_of(names_of_methods(false)))
      .show_default();
  command
      .option("--sequences", options->sequences,
              "sequences per rank and step; default: 32, fewer from size small on, or the deck's batch.micro")
      .check(whole_numbers(1, 1 << 20));
  command.option("--length", options->length, "tokens of a sequence").check(whole_numbers(2, 1 << 20)).show_default();
  command.option("--masked", options->masked, "positions of a sequence that are predicted")
      .check(whole_numbers(1, 1 << 20))
      .show_default();
  command.flag("--profile", options->profile, "also time each matrix product and kernel, and each product alone");
  command.flag("--timeline", options->timeline,
               "also time the exchange of gradients during the backward pass, and what that hides");
  add_common(command, *options);
  command.when_given([options] { return [options](Session& session) { return run_step(*options, session); }; });
}

using RunOfSizes = int (*)(std::vector<std::int64_t> const&, Common const&, Session&);

/// Adds the options of a bench that runs for each of several vector lengths. without: the lengths by default.
void add_sizes(Command command, std::vector<std::string> const& without, RunOfSizes run) {
  struct Options : Common {
    std::vector<std::string> elements;
  };
  auto options = std::make_shared<Options>();
  options->elements = without;
  command
      .option("--elements", options->elements,
              "floats of a vector, such as 5000, 64Ki, 300Mi; several are separated by commas")
      .separated_by(',')
      .check(element_counts())
      .type_name("COUNT,...")
      .show_default();
  add_common(command, *options);
  command.when_given([options, run] {
    return [options, run](Session& session) {
      std::vector<std::int64_t> counts;
      for (auto const& text : options->elements) counts.push_back(*element_count(text));
      return run(counts, *options, session);
    };
  });
}

void add_optimizer(Command bench) {
  struct Options : Common {
    std::string model = "tiny";
    std::vector<std::string> methods;
    bool timeline = false;
  };
  auto options = std::make_shared<Options>();
  auto const command = bench.subcommand("optimizer", "Steps of every method, kernel by kernel, without a model");
  add_model(command, options->model);
  command.option("--method", options->methods, "methods, separated by commas; default: all, or the deck's")
      .separated_by(',')
      .check(one_of(names_of_methods(true)))
      .type_name("NAME,...");
  command.flag("--timeline", options->timeline, "also time the segments of compressed exchanges");
  add_common(command, *options);
  command.when_given([options] {
    return [options](Session& session) {
      return run_optimizer(options->model, options->methods, options->timeline, *options, session);
    };
  });
}

void add_checkpoint(Command bench) {
  struct Options : Common {
    std::string model = "mini", directory = ".";
  };
  auto options = std::make_shared<Options>();
  options->calls = 5;
  options->warmup = 1;
  auto const command = bench.subcommand("checkpoint", "How long a checkpoint stops training");
  add_model(command, options->model);
  command.option("--directory", options->directory, "where to write; the bench removes what it writes")
      .check(paths())
      .type_name("DIR")
      .show_default();
  add_common(command, *options);
  command.when_given([options] {
    return
        [options](Session& session) { return run_checkpoint(options->model, options->directory, *options, session); };
  });
}

}  // namespace

void add_bench(Command program) {
  auto const bench = program.subcommand("bench", "Time the parts of a step and check their results");
  bench.require_subcommand();
  add_sizes(bench.subcommand("collectives", "Dense and compressed means over ranks"), {"64Ki", "1Mi", "16Mi"},
            run_collectives);
  add_optimizer(bench);
  add_sizes(bench.subcommand("kernels", "Packing of signs and the kernels of means, compared with copies of memory"),
            {"32Mi"}, run_kernels);
  add_step(bench);
  add_checkpoint(bench);
}

}  // namespace bellwether::app
