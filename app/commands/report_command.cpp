// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/durable_file.hpp"
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/output_file.hpp"
#include "app/launch/installation.hpp"
#include "app/launch/interrupt.hpp"
#include "app/statistics/damaged_statistics.hpp"
#include "app/statistics/statistics_segment.hpp"
#include "core/system/environment.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/threads/io_thread.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bellwether::app {
namespace {

struct ReportOptions {
  std::string run;
  std::string out;
};

constexpr int exit_failed = 1, exit_input = 2, not_started = 127;
constexpr std::size_t most_said = 255;  // bytes of a line or a path in a message
constexpr std::chrono::milliseconds between_looks(20);

/// A running program, with the read end of its standard output.
struct Child {
  pid_t process = 0;
  int output = -1;
};

enum class Errors { shown, kept };  ///< a program's standard error: ours, or part of its output

/// Starts a program. Returns an error of the system if that fails.
std::variant<Child, int> start_program(std::vector<std::string> words, Errors errors) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw RuntimeError(std::string("cannot create a pipe to another program: ") + std::strerror(errno));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  if (errors == Errors::kept) posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  Child child{0, ends[0]};
  int const error = posix_spawnp(&child.process, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  if (error == 0) return child;
  close(ends[0]);
  return error;
}

/// The exit code and the output of a program that ended, or not_started and why.
struct Ended {
  int code = not_started;
  std::string output;
};

/// Runs a program to its end. Sends it SIGTERM once `interrupt` is requested.
Ended run_program(std::vector<std::string> words, Errors errors, Interrupt const& interrupt) {
  Ended ended;
  auto const started = start_program(std::move(words), errors);
  auto const* const child = std::get_if<Child>(&started);
  if (child == nullptr) {
    ended.output = std::strerror(std::get<int>(started));
    return ended;
  }
  std::array<char, 65536> portion;
  pollfd ready{child->output, POLLIN, 0};
  for (bool told = false;;) {
    if (interrupt.requested() && !std::exchange(told, true)) kill(child->process, SIGTERM);
    if (poll(&ready, 1, static_cast<int>(between_looks.count())) <= 0) continue;
    auto const count = read(child->output, portion.data(), portion.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ended.output.append(portion.data(), static_cast<std::size_t>(count));
  }
  close(child->output);
  int status = 0;
  while (waitpid(child->process, &status, 0) < 0 && errno == EINTR) continue;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

/// Returns the last line that is not blank, or, if Python lists its state after its error, the line of the error.
std::string last_words(std::string const& text) {
  std::istringstream lines(text);
  std::string last, error;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    last = line;
    if (line.find("Error: ") != std::string::npos) error = line;
  }
  return error.empty() ? last : error;
}

/// Returns what an interpreter said that cannot import the packages.
std::string reason(Ended const& ended) {
  auto const said = last_words(ended.output);
  return said.empty() ? "exit code " + std::to_string(ended.code) : shortened(said, most_said);
}

/// Returns which variables of Python are set that can keep it from starting, or from finding its packages.
std::string variables_of_python() {
  std::string text;
  for (char const* name : {"PYTHONHOME", "PYTHONPATH", "MPLBACKEND"})
    if (char const* const value = std::getenv(name); value != nullptr && *value != '\0')
      text += "; " + std::string(name) + " is '" + shortened(value, most_said) + "': unset it if it is the cause";
  return text;
}

/// Returns the first interpreter that can import the packages of the script. \throws RuntimeError naming them, and what
/// each interpreter said, if none can.
std::string find_interpreter(Interrupt const& interrupt) {
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  char const* const chosen = std::getenv("BELLWETHER_PYTHON");
  if (chosen != nullptr) candidates = {chosen};
  std::string tried;
  // With -c, Python would import files of the working directory, such as inspect.py, as its own modules.
  constexpr auto probe =
      "import sys; sys.path[:] = [path for path in sys.path if path]; import h5py, matplotlib, numpy";
  for (auto const& candidate : candidates) {
    auto const ended = run_program({candidate, "-c", probe}, Errors::kept, interrupt);
    if (ended.code == 0) return candidate;
    tried += (tried.empty() ? "'" : ", '") + shortened(candidate, most_said) + "' (" + reason(ended) + ")";
  }
  throw RuntimeError(
      "report needs Python 3 with h5py and matplotlib (Debian: python3-h5py python3-matplotlib); tried " + tried +
      "; install them, or " + (chosen != nullptr ? "correct or unset" : "name another interpreter in") +
      " BELLWETHER_PYTHON" + variables_of_python());
}

/// \throws InputError if a file is not the statistics of a run, or refers to rows of missing segments, for which HDF5
/// would return zeros.
void require_statistics(std::string const& path) {
  // HDF5 can crash on a damaged file.
  if (auto const fault = statistics_fault(path); !fault.empty()) throw InputError(fault);
  {
    auto const file = open_statistics(path);
    std::optional<input::Hdf5File::Attribute> format;
    try {
      format = file.attribute("/", "format");
    } catch (InputError const&) {  // a file of another program, whose attribute is not one value
    }
    if (format != input::Hdf5File::Attribute("bellwether statistics"))
      throw InputError(path + ": is not a statistics file of Bellwether; name the directory of a run");
  }
  require_segments(path);
}

int report(ReportOptions const& options) {
  namespace fs = std::filesystem;
  Interrupt const interrupt;
  auto const statistics = fs::path(options.run) / "statistics.h5";
  std::error_code error;
  if (!fs::exists(statistics, error))
    throw InputError(statistics.string() + ": no such file; name the directory of a run");
  input::IoThread().run(input::IoThread::Priority::read_ahead, [&] { require_statistics(statistics.string()); });
  std::string const out = options.out.empty() ? (fs::path(options.run) / "report.html").string() : options.out;
  bool const to_standard_output = out == "-";
  if (!to_standard_output) try {
      require_output_file(out, html_page);
    } catch (InputError const& fault) {
      throw InputError(std::string(fault.what()) + (options.out.empty() ? "; --out FILE writes it elsewhere" : ""));
    }
  Ended drawn;
  try {
    auto const interpreter = find_interpreter(interrupt);
    // -B: Python writes no bytecode next to the script.
    drawn = run_program({interpreter, "-B", shared_file("report.py"), options.run, "-"}, Errors::shown, interrupt);
  } catch (RuntimeError const&) {
    if (!interrupt.requested()) throw;
  }
  if (interrupt.requested()) {
    std::cerr << "interrupted: nothing was written\n";
    return 128 + interrupt.signal();
  }
  if (drawn.code == exit_failed || drawn.code == exit_input) return drawn.code;  // the script has printed the reason
  if (drawn.code != 0) throw RuntimeError("report.py ended with exit code " + std::to_string(drawn.code));
  if (to_standard_output) {
    std::cout << drawn.output;
    return 0;
  }
  write_chosen_file(out, drawn.output);
  if (fs::is_regular_file(out, error)) std::cout << out << '\n';  // not if the page itself goes to /dev/stdout
  return 0;
}

}  // namespace

void add_report(Command program) {
  auto options = std::make_shared<ReportOptions>();
  auto const command = program.subcommand("report", "Draw loss, rate, throughput and trust ratios of a run");
  command.option("run", options->run, "directory of the run").required().check(paths());
  command.option("--out", options->out, "HTML page to write (RUN/report.html); -: to standard output").check(paths());
  command.when_given([options] { return [options](Session&) { return report(*options); }; });
}

}  // namespace bellwether::app
