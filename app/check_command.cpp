// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands.hpp"
#include "input/deck.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace bellwether::app {
namespace {

struct CheckOptions {
  std::string deck;
  std::vector<std::string> overrides;
  bool schema = false;
  bool markdown = false;
};

int check(CheckOptions const& options) {
  if (options.schema) {
    std::cout << (options.markdown ? input::deck_reference_markdown() : input::deck_schema());
    return 0;
  }
  if (options.deck.empty()) throw InputError("no deck given; bellwether check DECK or bellwether check --schema");
  auto const source = input::read_deck_source(options.deck, options.overrides);
  input::parse_deck(source);
  std::cout << options.deck << ": no faults\n";
  return 0;
}

}  // namespace

void add_check(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = program.add_subcommand("check", "Find the faults of a deck; nothing is trained");
  command->add_option("deck", options->deck, "the deck, a YAML file");
  command->add_option("--set", options->overrides, "section.key=value in place of the deck's value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--schema", options->schema, "print every key with type, range, default and help instead");
  command->add_flag("--markdown", options->markdown, "the schema as Markdown, which is docs/deck_reference.md");
  command->callback([options, &chosen] { chosen = [options](Session&) { return check(*options); }; });
}

}  // namespace bellwether::app
