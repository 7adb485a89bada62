// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/installation.hpp"
#include "app/statistics_segment.hpp"
#include "core/error.hpp"
#include "input/io_thread.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bellwether::app {
namespace {

struct ReportOptions {
  std::string run;
  std::string out;
};

/// Runs a program and waits. Its exit code; 127 where it could not be started.
int run_program(std::vector<std::string> words, bool quiet) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (quiet) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", 1, 0);
  pid_t child = 0;
  int const error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return 127;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// The first interpreter that has what the script imports. \throws RuntimeError naming packages.
std::string find_interpreter() {
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  if (char const* chosen = std::getenv("BELLWETHER_PYTHON")) candidates = {chosen};
  std::string tried;
  for (auto const& candidate : candidates) {
    if (run_program({candidate, "-c", "import h5py, matplotlib, numpy"}, true) == 0) return candidate;
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  throw RuntimeError(
      "report needs Python 3 with h5py and matplotlib (Debian: python3-h5py python3-matplotlib); tried " + tried +
      "; BELLWETHER_PYTHON names another interpreter");
}

int report(ReportOptions const& options) {
  namespace fs = std::filesystem;
  auto const statistics = fs::path(options.run) / "statistics.h5";
  if (!fs::exists(statistics)) throw InputError(statistics.string() + ": no such file; report wants a run's directory");
  // HDF5 would show zeros in place of rows that are gone.
  input::IoThread().run(input::IoThread::Priority::read_ahead, [&] { require_segments(statistics.string()); });
  std::string const out = options.out.empty() ? (fs::path(options.run) / "report.html").string() : options.out;
  int const code = run_program({find_interpreter(), shared_file("report.py"), options.run, out}, false);
  if (code != 0) throw RuntimeError("report.py ended with exit code " + std::to_string(code));
  return 0;
}

}  // namespace

void add_report(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_subcommand("report", "Draw loss, rate, throughput and trust ratios of a run");
  command->add_option("run", options->run, "directory of the run")->required()->check(paths());
  command->add_option("--out", options->out, "HTML page to write (RUN/report.html)")->check(paths());
  command->callback([options, &chosen] { chosen = [options](Session&) { return report(*options); }; });
}

}  // namespace bellwether::app
