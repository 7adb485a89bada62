// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"

#include "app/formatted.hpp"
#include "input/suggestion.hpp"
#include "input/written_path.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace bellwether::app {
namespace {

using input::did_you_mean;
using input::joined;

/// A value for a message: not longer than a line.
std::string shown(std::string const& value) {
  return "'" + (value.size() > 64 ? value.substr(0, 64) + "..." : value) + "'";
}

std::string shortest(double value) { return formatted("%.6g", value); }

std::vector<std::string> names_of_commands(CLI::App const& program) {
  std::vector<std::string> names;
  for (auto const* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// "bench collectives", from the program down.
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

/// "--otu" of `command`, with the option that was meant.
std::string unknown_option(CLI::App const& command, std::string const& word) {
  std::string const name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (auto const* option : command.get_options())
    for (auto const& long_name : option->get_lnames()) known.push_back("--" + long_name);
  return "unknown option " + shown(name) + did_you_mean(name, known) + "; " + help_of(command) + " lists what there is";
}

bool knows_option(CLI::App const& command, std::string const& word) {
  return command.get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
}

}  // namespace

CLI::Validator whole_numbers(std::int64_t low, std::int64_t high) {
  std::string const range = std::to_string(low) + " to " + std::to_string(high);
  auto const check = [low, high, range](std::string& text) -> std::string {
    std::int64_t value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    bool const octal = text.size() > 1 && text[0] == '0';
    if (error == std::errc() && stop == end && !octal && value >= low && value <= high) return "";
    return shown(text) + "; allowed: a whole number from " + range;
  };
  return {check, range};
}

CLI::Validator numbers(double low, double high) {
  std::string const range = shortest(low) + " to " + shortest(high);
  auto const check = [low, high, range](std::string& text) -> std::string {
    double value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= low && value <= high) return "";
    return shown(text) + "; allowed: a number from " + range;
  };
  return {check, range};
}

CLI::Validator one_of(std::vector<std::string> const& words) {
  auto const check = [words](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return shown(text) + did_you_mean(text, words) + "; one of " + joined(words);
  };
  return {check, joined(words)};
}

CLI::Validator paths() {
  return {[](std::string& path) { return input::unexpanded_path(path, ".", input::Tilde::where_it_exists); }, ""};
}

std::optional<std::int64_t> element_count(std::string const& text) {
  std::int64_t value = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  std::string_view const unit(stop, static_cast<std::size_t>(end - stop));
  constexpr std::int64_t most = std::int64_t{1} << 40;
  int const shift = unit.empty() ? 0 : unit == "Ki" ? 10 : unit == "Mi" ? 20 : unit == "Gi" ? 30 : -1;
  if (error != std::errc() || shift < 0 || value < 1 || value > (most >> shift)) return std::nullopt;
  return value << shift;
}

CLI::Validator element_counts() {
  auto const check = [](std::string& text) -> std::string {
    if (element_count(text)) return "";
    return shown(text) + "; allowed: a whole number from 1 to 1024Gi, with Ki, Mi, Gi behind it or nothing";
  };
  return {check, "COUNT"};
}

bool runs_alone(CLI::App const& program) {
  constexpr std::array<std::string_view, 4> alone = {"prepare", "tokenize", "inspect", "report"};
  return std::ranges::any_of(alone, [&](auto const& name) { return program.got_subcommand(std::string(name)); });
}

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
  // What is unknown comes first: the option that is said to be missing may be meant by it.
  auto const rest = program.remaining(true);
  for (auto const& word : rest)
    if (word.starts_with('-') && word != "--")
      return knows_option(command, word) ? shown(word) + " stands before the command, or behind --; write bellwether " +
                                               path_of(command) + " " + word
                                         : unknown_option(command, word);
  if (auto const kinds = names_of_commands(command); !kinds.empty()) {
    auto const word = std::ranges::find_if(rest, [](auto const& each) { return !each.starts_with('-'); });
    if (word == rest.end()) return path_of(command) + ": one of " + joined(kinds) + " is missing";
    return path_of(command) + ": unknown " + shown(*word) + did_you_mean(*word, kinds) + "; one of " + joined(kinds);
  }
  std::string const what = error.what();
  auto const help = "; " + help_of(command) + " tells the usage";
  if (dynamic_cast<CLI::ExtrasError const*>(&error) != nullptr && !rest.empty())
    return "one word too many: " + shown(rest.front()) + help;
  if (dynamic_cast<CLI::RequiredError const*>(&error) != nullptr)
    return path_of(command) + ": " + what.substr(0, what.rfind(" is required")) + " is missing" + help;
  if (dynamic_cast<CLI::ArgumentMismatch const*>(&error) != nullptr && what.ends_with(" missing"))
    return what.substr(0, what.find(':')) + ": a value is missing" + help;
  return what;
}

std::string unknown_command(CLI::App const& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  auto const names = names_of_commands(program);
  if (std::ranges::find(names, argv[1]) != names.end()) return {};
  return "unknown command " + shown(argv[1]) + did_you_mean(argv[1], names) + "; one of " + joined(names);
}

}  // namespace bellwether::app
