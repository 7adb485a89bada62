// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"

#include "app/launch/version.hpp"
#include "core/system/error.hpp"
#include "input/deck/suggestion.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

namespace bellwether::app {
namespace {

using input::did_you_mean;
using input::joined;

// ---- error messages

std::vector<std::string> names_of_commands(CLI::App const& program) {
  std::vector<std::string> names;
  for (auto const* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Returns the names of the command and its parents, for example "bench collectives".
std::string path_of(CLI::App const& command) {
  auto const* parent = command.get_parent();
  if (parent == nullptr) return "";
  auto const above = path_of(*parent);
  return above + (above.empty() ? "" : " ") + command.get_name();
}

std::string help_of(CLI::App const& command) {
  auto const path = path_of(command);
  return "`bellwether " + path + (path.empty() ? "" : " ") + "--help`";
}

/// Returns the message for an unknown option of `command`, for example "--otu", with the nearest known option.
std::string unknown_option(CLI::App const& command, std::string const& word) {
  std::string const name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (auto const* option : command.get_options())
    for (auto const& long_name : option->get_lnames()) known.push_back("--" + long_name);
  return "unknown option " + shown(name) + did_you_mean(name, known) + "; " + help_of(command) + " lists the options";
}

bool knows_option(CLI::App const& command, std::string const& word) {
  return command.get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
}

/// Returns the message for an `error` that program.parse() threw.
std::string command_line_fault(CLI::App const& program, CLI::ParseError const& error) {
  auto const chosen = program.get_subcommands();
  if (chosen.empty()) {
    auto const rest = program.remaining();
    auto const option = std::ranges::find_if(rest, [](auto const& word) { return word.starts_with('-'); });
    if (option != rest.end()) return unknown_option(program, *option);
    return "no command given; one of " + joined(names_of_commands(program));
  }
  auto const* deepest = chosen.front();
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  auto const& command = *deepest;
  // Unknown options come first: one of them may be a misspelling of the option that CLI11 reports as missing.
  auto const rest = program.remaining(true);
  for (auto const& word : rest)
    if (word.starts_with('-') && word != "--")
      return knows_option(command, word) ? shown(word) + " must follow the command, before any --; write bellwether " +
                                               path_of(command) + " " + word
                                         : unknown_option(command, word);
  if (auto const kinds = names_of_commands(command); !kinds.empty()) {
    auto const word = std::ranges::find_if(rest, [](auto const& each) { return !each.starts_with('-'); });
    if (word == rest.end()) return path_of(command) + ": one of " + joined(kinds) + " is missing";
    return path_of(command) + ": unknown " + shown(*word) + did_you_mean(*word, kinds) + "; one of " + joined(kinds);
  }
  std::string const what = error.what();
  auto const help = "; " + help_of(command) + " shows the usage";
  if (dynamic_cast<CLI::ExtrasError const*>(&error) != nullptr && !rest.empty())
    return "unexpected argument " + shown(rest.front()) + help;
  if (dynamic_cast<CLI::RequiredError const*>(&error) != nullptr)
    return path_of(command) + ": " + what.substr(0, what.rfind(" is required")) + " is missing" + help;
  if (dynamic_cast<CLI::ArgumentMismatch const*>(&error) != nullptr && what.ends_with(" missing"))
    return what.substr(0, what.find(':')) + ": a value is missing" + help;
  return what;
}

/// Returns the message if the value of an option is empty or the name of another option, as for `--out $OUT --wrapped`
/// with an unset OUT. Returns an empty text otherwise.
std::string unset_value(CLI::App const& program) {
  auto const* command = &program;
  for (auto chosen = command->get_subcommands(); !chosen.empty(); chosen = command->get_subcommands())
    command = chosen.front();
  for (auto const* option : command->get_options()) {
    if (option->count() == 0 || option->get_items_expected_max() == 0) continue;
    auto const& names = option->get_lnames();
    std::string const name = names.empty() ? option->get_single_name() : "--" + names.front();
    for (auto const& value : option->results()) {
      if (value.empty()) return name + ": the value is empty; is a variable of the shell unset?";
      if (value.starts_with("--") && value.size() > 2 && knows_option(*command, value))
        return name + ": a value is missing before " + shown(value) + "; is a variable of the shell unset?";
    }
  }
  return "";
}

/// Returns the message if the first word is not a command, with the nearest command; empty if it is one.
std::string unknown_command(CLI::App const& program, int argc, char const* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  auto const names = names_of_commands(program);
  if (std::ranges::find(names, argv[1]) != names.end()) return {};
  return "unknown command " + shown(argv[1]) + did_you_mean(argv[1], names) + "; one of " + joined(names);
}

// ---- the given options

void add(std::vector<GivenOption>& options, GivenOption const& option) {
  auto const known = std::ranges::find(options, option.name, &GivenOption::name);
  if (known == options.end())
    options.push_back(option);
  else
    known->value += ", " + option.value;
}

void add_options(CLI::App const& command, std::vector<GivenOption>& options) {
  for (auto const* option : command.get_options()) {
    if (option->count() == 0) continue;
    auto const& names = option->get_lnames();
    std::string const name = names.empty() ? option->get_single_name() : "--" + names.front();
    if (option->get_items_expected_max() == 0) {
      add(options, {name, ""});
      continue;
    }
    for (auto const& value : option->results()) {
      auto const equals = name == "--set" ? value.find('=') : std::string::npos;
      add(options, equals == std::string::npos
                       ? GivenOption{name, value}
                       : GivenOption{name + " " + value.substr(0, equals), value.substr(equals + 1)});
    }
  }
}

/// Returns the command and the options that `program` has parsed, in the order of the help text.
GivenCommand given_command(CLI::App const& program) {
  GivenCommand given{program_version() + " (" + build_options() + ")", {}, {}};
  for (auto const* command = &program;;) {
    auto const chosen = command->get_subcommands();
    if (chosen.empty()) return given;
    command = chosen.front();
    given.command += (given.command.empty() ? "" : " ") + command->get_name();
    add_options(*command, given.options);
  }
}

}  // namespace

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::check(OptionCheck const& check) const {
  option_->check(CLI::Validator([fault = check.fault](std::string& value) { return fault(value); }, check.description));
  return *this;
}

Option Option::type_name(std::string const& text) const {
  option_->type_name(text);
  return *this;
}

Option Option::show_default() const {
  option_->capture_default_str();
  return *this;
}

Option Option::separated_by(char separator) const {
  option_->delimiter(separator);
  return *this;
}

Option Option::one_value_each() const {
  option_->allow_extra_args(false);
  return *this;
}

Command Command::subcommand(std::string const& name, std::string const& help) const {
  return {*app_->add_subcommand(name, help), *chosen_};
}

void Command::require_subcommand() const { app_->require_subcommand(1); }

Option Command::option(std::string const& name, Target target, std::string const& help) const {
  return Option(
      std::visit([&](auto value) -> CLI::Option& { return *app_->add_option(name, value.get(), help); }, target));
}

void Command::flag(std::string const& name, bool& target, std::string const& help) const {
  app_->add_flag(name, target, help);
}

void Command::when_given(std::function<Action()> const& choose) const {
  app_->callback([choose, app = app_, chosen = chosen_] {
    try {
      *chosen = choose();
    } catch (InputError const& error) {
      throw CLI::ValidationError(path_of(*app), error.what());
    }
  });
}

CommandLine read_command_line(int argc, char const* const* argv, std::vector<AddCommand> const& commands) {
  CommandLine line;
  CLI::App program("Bellwether: BERT pre-training where the network is the bottleneck", "bellwether");
  program.set_version_flag("--version", "bellwether " + program_version());
  program.require_subcommand(1);
  program.get_formatter()->column_width(34);
  for (auto const add : commands) add({program, line.action});
  line.fault = unknown_command(program, argc, argv);
  if (line.fault.empty()) try {
      program.parse(argc, argv);
    } catch (CLI::Success const& wanted) {
      std::ostringstream text;
      program.exit(wanted, text);
      line.text = text.str();
    } catch (CLI::ParseError const& error) {
      line.fault = command_line_fault(program, error);
    }
  if (auto const fault = unset_value(program); !fault.empty() && line.text.empty()) line.fault = fault;
  line.given = given_command(program);
  return line;
}

}  // namespace bellwether::app
