// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/standard_streams.hpp"

#include "input/files/regular_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string_view>

namespace bellwether::app {

void reserve_standard_streams() {
  for (int const number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free descriptor, which is this one. The access mode makes later use of it fail.
    if (::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number) return;
  }
}

void reserve_descriptors(int argc, char const* const* argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    for (auto const path : {word, word.substr(word.find('=') + 1)}) {  // --cluster=/dev/fd/7
      auto const number = input::descriptor_of(std::string(path));
      if (!number || ::fcntl(*number, F_GETFD) >= 0 || errno != EBADF) continue;
      // O_PATH: neither reading nor writing works.
      int const held = ::open("/dev/null", O_PATH | O_CLOEXEC);
      if (held < 0 || held == *number) continue;
      ::dup3(held, *number, O_CLOEXEC);  // fails for numbers above the limit, which no file gets
      ::close(held);
    }
  }
}

std::string lost_output() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return "";
  if (errno == 0) {  // an earlier write failed and its reason is lost; another write fails for the same reason
    std::clearerr(stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  return std::string("standard output: cannot be written") + (errno == 0 ? "" : ": ") +
         (errno == 0 ? "" : std::strerror(errno));
}

}  // namespace bellwether::app
