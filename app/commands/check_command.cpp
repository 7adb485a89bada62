// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/estimate/build_report.hpp"
#include "app/estimate/cluster_report.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/train/deck_broadcast.hpp"
#include "app/train/run_directory.hpp"
#include "app/train/shared_directory.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "input/deck/deck.hpp"
#include "input/files/yaml_document.hpp"
#include "input/text/odd_characters.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::app {
namespace {

struct CheckOptions {
  std::string deck;
  std::vector<std::string> overrides;
  std::string cluster;
  bool strict = false;
  bool schema = false;
  bool markdown = false;
};

int check(CheckOptions const& options, Session& session) {
  if (options.schema) {
    std::cout << (options.markdown ? input::deck_reference_markdown() : input::deck_schema());
    return 0;
  }
  auto& world = session.world();
  auto const shared = read_shared_deck(world.group(), options.deck, options.overrides);
  std::optional<input::Cluster> cluster;
  if (!options.cluster.empty()) cluster = read_shared_cluster(world.group(), options.cluster);
  BuildReport report;
  bool taken = false;
  with_places(shared.source, [&] {
    together(world.group(), [&] {
      if (session.rank() != 0) return;
      require_makeable(shared.deck.run.directory);
      taken = holds_run(shared.deck.run.directory);
    });
    require_seen(world.group(), shared.deck.run.directory, world.host());
    report = build_report(shared.deck, world);
  });
  require_equal_start(world.group(), start_facts(report.layout_fingerprint));
  std::optional<Workload> work;
  if (cluster) work = workload_of(world, *cluster, shared.deck, report);
  auto const of_overrides = input::override_warnings(shared.source);
  report.warnings.insert(report.warnings.begin(), of_overrides.begin(), of_overrides.end());
  // A run prints the warnings of rank 0.
  auto warnings = session.rank() == 0 ? report.warnings : std::vector<std::string>();
  if (taken)
    warnings.push_back("run.directory: " + shared.deck.run.directory +
                       " holds a run already: train needs --resume or another directory");
  if (options.strict) raise_together(world.group(), warnings);
  if (session.rank() != 0) return 0;
  for (auto const& warning : warnings) std::cerr << "warning: " << input::with_codes(warning) << '\n';
  std::cout << input::with_codes(shared.source.path) << " has no faults\n\n" << report_text(report, shared.deck);
  if (work) std::cout << cluster_text(input::document_name(options.cluster), *cluster, *work);
  return 0;
}

}  // namespace

void add_check(Command program) {
  auto options = std::make_shared<CheckOptions>();
  auto const command = program.subcommand(
      "check", "Build everything that a deck needs and print its size and traffic, without training");
  command.option("deck", options->deck, "the deck, a YAML file; - for standard input").check(paths());
  command.option("--set", options->overrides, "section.key=value in place of the deck's value")
      .type_name("KEY=VALUE")
      .one_value_each();
  command
      .option(
          "--cluster", options->cluster,
          "a YAML file that describes a cluster: also forecast the time of steps there, with and without compression")
      .check(paths())
      .type_name("CLUSTER");
  command.flag("--strict", options->strict, "treat warnings as errors");
  command.flag("--schema", options->schema, "print every key with type, range, default and help instead");
  command.flag("--markdown", options->markdown,
               "with --schema: print it as Markdown, like docs/user/deck_reference.md");
  command.when_given([options] {
    if (options->schema && !options->deck.empty())
      throw InputError("--schema reads no deck; omit " + options->deck + " or --schema");
    if (options->schema && !options->cluster.empty())
      throw InputError("--cluster needs a deck, and --schema reads none; omit one of them");
    if (options->schema && !options->overrides.empty())
      throw InputError("--set changes a deck, and --schema reads none; omit one of them");
    if (options->markdown && !options->schema)
      throw InputError("--markdown prints the schema; allowed only with --schema");
    if (!options->schema && options->deck.empty())
      throw InputError("no deck given; run bellwether check DECK or bellwether check --schema");
    if (!options->cluster.empty() && input::document_name(options->cluster) == "standard input" &&
        input::document_name(options->deck) == "standard input")
      throw InputError("deck and cluster both come from standard input; name a file for one of them");
    return [options](Session& session) { return check(*options, session); };
  });
}

}  // namespace bellwether::app
