// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/terminal.hpp"

#include "app/launch/launcher.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace bellwether::app {
namespace {

/// Variables that launchers of MPI programs set on each rank: Open MPI, PMIx, MPICH and its derivatives.
constexpr std::array<char const*, 4> launched = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE", "PMI_RANK"};

/// Opens the launcher's standard output if it is a terminal; otherwise returns -1.
int launcher_terminal() {
  long const id = ancestor_without(launched);
  if (id <= 0) return -1;
  auto const output = process_entry(id, "fd/1");
  struct stat status {};
  // Check before opening, because opening a pipe has side effects.
  if (stat(output.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return -1;
  int const terminal = open(output.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (terminal >= 0 && isatty(terminal) == 1) return terminal;
  if (terminal >= 0) close(terminal);
  return -1;
}

std::size_t width_of(int terminal) {
  winsize window{};
  return ioctl(terminal, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

}  // namespace

Terminal::Terminal(std::FILE* out) : out_(fileno(out)) {
  if (out_ < 0 || isatty(out_) != 1) return;
  reader_ = out_;
  // Check the initial environment, because MPI itself sets some of these variables without a launcher.
  if (!started_with(launched)) return;
  reader_ = launcher_terminal();
  owned_ = reader_ >= 0;
}

Terminal::~Terminal() {
  if (owned_) close(reader_);
}

std::size_t Terminal::columns() const {
  std::size_t columns = width_of(reader_);
  if (columns == 0) columns = width_of(out_);
  return columns > 0 ? columns : 80;
}

}  // namespace bellwether::app
