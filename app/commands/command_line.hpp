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

/// The command line. CLI11 parses it. Only command_line.cpp includes CLI11's header, which takes ten seconds to
/// compile.
namespace bellwether::app {

class Session;

/// The work that the command line requests; returns the exit code. Called after the whole command line is parsed.
using Action = std::function<int(Session&)>;

/// An option of a command. A handle: copies refer to the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}
  Option required() const;
  /// Rejects values for which `check` returns a fault.
  Option check(OptionCheck const& check) const;
  /// Sets the name of a value in the help text.
  Option type_name(std::string const& text) const;
  /// Shows the current value of the target as the default in the help text.
  Option show_default() const;
  /// Accepts several values in one word, separated by `separator`.
  Option separated_by(char separator) const;
  /// Accepts several values, each of which needs the option's name before it.
  Option one_value_each() const;

 private:
  CLI::Option* option_;
};

/// A command or the program itself, to which options and subcommands are added. A handle: copies refer to the same one.
class Command {
 public:
  /// The variable that receives the value of an option. It must live until the command line is parsed.
  using Target = std::variant<std::reference_wrapper<std::string>, std::reference_wrapper<std::vector<std::string>>,
                              std::reference_wrapper<int>, std::reference_wrapper<std::int64_t>,
                              std::reference_wrapper<std::uint64_t>, std::reference_wrapper<double>>;

  Command(CLI::App& app, Action& chosen) : app_(&app), chosen_(&chosen) {}
  Command subcommand(std::string const& name, std::string const& help) const;
  void require_subcommand() const;
  /// Adds an option or argument. name: "--log" for an option, "deck" for a positional argument.
  Option option(std::string const& name, Target target, std::string const& help) const;
  void flag(std::string const& name, bool& target, std::string const& help) const;
  /// Sets the action of this command. Parsing calls `choose` after all options have their values if the command line
  /// contains the command. If the options conflict, `choose` throws InputError, whose message becomes
  /// CommandLine::fault.
  void when_given(std::function<Action()> const& choose) const;

 private:
  CLI::App* app_;
  Action* chosen_;
};

/// Adds one command to the program. Both lambdas share ownership of the options:
///
///     auto options = std::make_shared<CheckOptions>();
///     auto const command = program.subcommand("check", "...");
///     command.option("deck", options->deck, "...").required();
///     command.when_given([options] { return [options](Session& session) { ...; return 0; }; });
using AddCommand = void (*)(Command program);

/// A parsed command line. Exactly one of action, text and fault is set.
struct CommandLine {
  Action action;
  std::string text;   ///< the output of --help or --version
  std::string fault;  ///< the error, with the nearest known word as a suggestion
  GivenCommand given;
};

/// Parses the command line of a program with `commands`.
CommandLine read_command_line(int argc, char const* const* argv, std::vector<AddCommand> const& commands);

}  // namespace bellwether::app
