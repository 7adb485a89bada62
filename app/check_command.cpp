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
};

int check(CheckOptions const& options) {
  auto const source = input::read_deck_source(options.deck, options.overrides);
  input::parse_deck(source);
  std::cout << options.deck << ": no faults\n";
  return 0;
}

}  // namespace

void add_check(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = program.add_subcommand("check", "Find the faults of a deck; nothing is trained");
  command->add_option("deck", options->deck, "the deck, a YAML file")->required();
  command->add_option("--set", options->overrides, "section.key=value in place of the deck's value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->callback([options, &chosen] { chosen = [options](Session&) { return check(*options); }; });
}

}  // namespace bellwether::app
