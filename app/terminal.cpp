// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace bellwether::app {
namespace {

/// What launchers of MPI programs tell each rank: Open MPI, PMIx, and MPICH with its relatives.
constexpr std::array<std::string_view, 4> launched = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE", "PMI_RANK"};

std::string process(long id, char const* entry) { return "/proc/" + std::to_string(id) + '/' + entry; }

/// Whether a process was started with such a variable.
bool is_launched(long id) {
  std::ifstream file(process(id, "environ"), std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');)
    if (std::ranges::find(launched, std::string_view(entry).substr(0, entry.find('='))) != launched.end()) return true;
  return false;
}

/// 0: there is none, or the system does not say.
long parent_of(long id) {
  std::ifstream file(process(id, "stat"));
  std::string text;
  std::getline(file, text);
  auto const name_end = text.rfind(')');  // the name may hold spaces and parentheses
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  long parent = 0;
  rest >> state >> parent;
  return rest ? parent : 0;
}

/// The launcher's standard output, opened, where that is a terminal; else -1.
int launcher_terminal() {
  long id = getppid();
  while (id > 1 && is_launched(id)) id = parent_of(id);  // scripts between launcher and program
  if (id <= 0) return -1;
  auto const output = process(id, "fd/1");
  struct stat status {};
  // Looked at before it is opened: a pipe would notice.
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
  // What it was started with: MPI itself sets some of these variables where there was no launcher.
  if (!is_launched(getpid())) return;
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
