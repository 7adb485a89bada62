// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/agreement.hpp"
#include "app/commands.hpp"
#include "app/version.hpp"
#include "input/suggestion.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using bellwether::InputError;
using bellwether::app::Action;
using bellwether::app::CommonError;
using bellwether::app::CommonFailure;
using bellwether::app::Session;

constexpr int exit_failed = 1;
constexpr int exit_input = 2;

void tell(std::string const& message) { std::cerr << "error: " << message << '\n'; }

/// Every fault on a line of its own, each with the rank where there are several: `[rank 2] error: what`.
std::string marked(Session const& session, std::vector<std::string> const& faults) {
  std::string text;
  for (auto const& fault : faults)
    text += (text.empty() ? "error: " : "\n[rank " + std::to_string(session.rank()) + "] error: ") + fault;
  return text;
}

/// What a command has written may still lie in buffers. \throws RuntimeError where it does not arrive.
void require_output() {
  errno = 0;
  std::cout.flush();
  bool const arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  std::string const reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  if (!arrived) throw bellwether::RuntimeError("standard output: cannot be written" + reason);
}

/// The exit code of the command, or of what it threw. Errors are printed here and nowhere else.
int run(Action const& action, Session& session, bool output_matters) {
  int code = exit_input;
  std::vector<std::string> faults;
  try {
    code = action(session);
    if (output_matters) require_output();
    return code;
  } catch (CommonError const& error) {
    if (session.rank() == 0)
      for (auto const& fault : error.faults()) tell(fault);
    return exit_input;
  } catch (CommonFailure const& error) {
    if (session.rank() == 0) tell(error.what());
    return exit_failed;
  } catch (InputError const& error) {
    faults = error.faults();
  } catch (std::exception const& error) {
    code = exit_failed;
    faults = {error.what()};
  }
  session.end_other_ranks(code, marked(session, faults));
  for (auto const& fault : faults) tell(fault);
  return code;
}

/// A word in the place of a command that is none, with the nearest command; empty where all is well.
std::string unknown_command(CLI::App const& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> names;
  for (auto const* command : program.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, argv[1]) != names.end()) return {};
  auto const guess = bellwether::input::nearest_word(argv[1], names);
  std::string text = "unknown command '" + std::string(argv[1]) + "'";
  if (!guess.empty()) text += " (did you mean '" + guess + "'?)";
  text += "; one of";
  for (auto const& name : names) text += (name == names.front() ? " " : ", ") + name;
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Bellwether: BERT pre-training where the network is the bottleneck", "bellwether");
  program.set_version_flag("--version", "bellwether " + bellwether::app::program_version());
  program.require_subcommand(1);
  program.get_formatter()->column_width(34);
  Action chosen;
  for (auto const add : bellwether::app::commands()) add(program, chosen);
  if (auto const fault = unknown_command(program, argc, argv); !fault.empty()) {
    tell(fault);
    return exit_input;
  }
  bool output_matters = true;
  try {
    program.parse(argc, argv);
    output_matters = !program.got_subcommand("train");  // training outlives the reader of its progress
  } catch (CLI::ParseError const& error) {
    if (program.exit(error) != 0) return exit_input;
    chosen = [](Session&) { return 0; };  // help has been printed
  }
  std::signal(SIGXFSZ, SIG_IGN);  // where files may not grow, writing fails with their name instead
  Session session(argc, argv);
  return run(chosen, session, output_matters);
}
