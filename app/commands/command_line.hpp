// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/commands/option_checks.hpp"
#include "app/launch/given_options.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The command line. The header of CLI11, which parses it, takes ten seconds to compile: command_line.cpp alone
/// includes it.
namespace bellwether::app {

class Session;

/// What the command line asks for; returns the exit code. Called once the whole command line is understood.
using Action = std::function<int(Session&)>;

/// An option of a command; a handle that is copied freely.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}
  Option required() const;
  /// Refuses the values that `check` finds fault with.
  Option check(OptionCheck const& check) const;
  /// What the help text calls a value.
  Option type_name(std::string const& text) const;
  /// The help text shows the value that the target has now.
  Option show_default() const;
  /// One word holds several values with `separator` between them.
  Option separated_by(char separator) const;
  /// A list of which each value needs the option before it.
  Option one_value_each() const;

 private:
  CLI::Option* option_;
};

/// A command, or the program itself, to which options and commands are added; a handle that is copied freely.
class Command {
 public:
  /// Where the value of an option goes; it must live until the command line is read.
  using Target = std::variant<std::reference_wrapper<std::string>, std::reference_wrapper<std::vector<std::string>>,
                              std::reference_wrapper<int>, std::reference_wrapper<std::int64_t>,
                              std::reference_wrapper<std::uint64_t>, std::reference_wrapper<double>>;

  Command(CLI::App& app, Action& chosen) : app_(&app), chosen_(&chosen) {}
  Command subcommand(std::string const& name, std::string const& help) const;
  void require_subcommand() const;
  /// name: "--log", or "deck" for a word without a name.
  Option option(std::string const& name, Target target, std::string const& help) const;
  void flag(std::string const& name, bool& target, std::string const& help) const;
  /// `choose` gives what is to be done where this command is given. \throws from it: InputError where its options do
  /// not go together, which becomes the fault of the command line.
  void when_given(std::function<Action()> const& choose) const;

 private:
  CLI::App* app_;
  Action* chosen_;
};

/// Adds one command to the program. Options live in a shared_ptr that both lambdas hold:
///
///     auto options = std::make_shared<CheckOptions>();
///     auto const command = program.subcommand("check", "...");
///     command.option("deck", options->deck, "...").required();
///     command.when_given([options] { return [options](Session& session) { ...; return 0; }; });
using AddCommand = void (*)(Command program);

/// What a command line says: exactly one of action, text and fault is there.
struct CommandLine {
  Action action;
  std::string text;   ///< what --help or --version prints
  std::string fault;  ///< what is wrong, with the nearest word that is known
  GivenCommand given;
};

/// Reads a command line of a program that has `commands`.
CommandLine read_command_line(int argc, char const* const* argv, std::vector<AddCommand> const& commands);

}  // namespace bellwether::app
