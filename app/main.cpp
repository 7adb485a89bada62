// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/launcher.hpp"
#include "app/launch/standard_streams.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/system_limits.hpp"
#include "input/text/odd_characters.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using bellwether::InputError;
using bellwether::app::Action;
using bellwether::app::CommonError;
using bellwether::app::CommonFailure;
using bellwether::app::lost_output;
using bellwether::app::Session;

constexpr int exit_failed = 1;
constexpr int exit_input = 2;
constexpr double seconds_to_speak = 2;  // time for other ranks that time out in the same collective

/// Formats one error. A file name may contain control characters, which a terminal would obey: they become <U+001B>.
std::string error_line(std::string const& message) { return "error: " + bellwether::input::with_codes(message); }

void tell(std::string const& message) { std::cerr << error_line(message) << '\n'; }

/// Formats each fault on a separate line. Lines after the first begin with the rank: `[rank 2] error: what`.
std::string marked(Session const& session, std::vector<std::string> const& faults) {
  std::string text;
  for (auto const& fault : faults)
    text += (text.empty() ? "" : "\n[rank " + std::to_string(session.rank()) + "] ") + error_line(fault);
  return text;
}

/// Returns the exit code of the command, or of its exception. Only this function prints errors.
int run(Action const& action, Session& session, bool output_matters) {
  int code = exit_input;
  double patience = 0;
  std::vector<std::string> faults;
  try {
    code = action(session);
    auto const lost = output_matters ? lost_output() : std::string();
    if (lost.empty()) return code;
    throw bellwether::RuntimeError(lost);
  } catch (CommonError const& error) {
    if (session.rank() == 0)
      for (auto const& fault : error.faults()) tell(fault);
    return exit_input;
  } catch (CommonFailure const& error) {
    if (session.rank() == 0) tell(error.what());
    return exit_failed;
  } catch (InputError const& error) {
    faults = error.faults();
  } catch (bellwether::comm::CollectiveTimeout const& error) {
    code = exit_failed;
    patience = seconds_to_speak;
    faults = {error.what()};
  } catch (std::exception const& error) {
    code = exit_failed;
    faults = {bellwether::what_of(error)};
  }
  session.end_other_ranks(code, marked(session, faults), patience);
  for (auto const& fault : faults) tell(fault);
  return code;
}

/// Prints the text of --help or --version.
int tell_help(std::string const& text) {
  std::cout << text;
  auto const lost = lost_output();
  if (lost.empty()) return 0;
  tell(lost);
  return exit_failed;
}

std::atomic<bool> main_has_ended{false};

/// Prints an error if HDF5 calls exit(), which it does without a message when memory runs out (1.10.8, H5I_register).
void tell_exit_of_library() {
  if (main_has_ended || !bellwether::memory_is_short()) return;
  try {
    tell(bellwether::out_of_memory());
  } catch (std::exception const&) {
    std::fputs("error: not enough memory\n", stderr);
  }
}

/// Returns why the working directory cannot be used; empty if it can. Open MPI and the standard library would end the
/// program with messages that do not name the cause.
std::string fault_of_working_directory() {
  std::error_code error;
  static_cast<void>(std::filesystem::current_path(error));
  if (!error) return "";
  if (error == std::errc::no_such_file_or_directory)
    return "the working directory has been removed; cd to one that exists";
  return "the working directory cannot be found: " + error.message() + "; cd to another one";
}

int run_program(int argc, char** argv) {
  bellwether::app::reserve_standard_streams();
  bellwether::app::reserve_descriptors(argc, argv);
  auto const line = bellwether::app::read_command_line(argc, argv, bellwether::app::commands());
  auto const refuse = [&](std::string const& fault) {
    if (!runs_alone(line.given)) std::this_thread::sleep_for(bellwether::app::turn_to_tell());
    tell(fault);
    return exit_input;
  };
  if (!line.fault.empty()) return refuse(line.fault);
  if (!line.text.empty()) return tell_help(line.text);
  if (auto const fault = fault_of_working_directory(); !fault.empty()) return refuse(fault);
  bool const output_matters = line.given.command != "train";  // training continues when the reader of its output ends
  std::signal(SIGXFSZ, SIG_IGN);  // at a file size limit, writes then fail with an error that names the file
  Session session(argc, argv, line.given);
  int const code = run(line.action, session, output_matters);
  if (code != 0) session.note_end(code);  // other ranks may still print
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::atexit(tell_exit_of_library);
  int const code = run_program(argc, argv);
  main_has_ended = true;
  return code;
}
