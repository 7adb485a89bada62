// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns an endless start into an error. OpenBLAS allocates its buffers before main() begins. If the system refuses
// them, it retries forever (seen in 0.3.21). A timer of processor time starts before the first library and stops before
// main(). If it expires, it ends the process with the reason.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr int exit_failed = 1;
constexpr long patience = 10;  // seconds of processor time; libraries take less than one
constexpr std::uint64_t kibibyte = 1024;

/// A line of text without heap memory, as signal handlers need it.
struct Line {
  char text[512];
  std::size_t size = 0;

  void add(char const* more) {
    std::size_t const length = std::strlen(more);
    if (size + length > sizeof text) return;
    std::memcpy(text + size, more, length);
    size += length;
  }
  void add(std::uint64_t number) {
    char digits[24];
    std::size_t first = sizeof digits - 1;
    digits[first] = '\0';
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    add(digits + first);
  }
  void add_limit(char const* name, int which) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(which), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    add(name);
    add(limit.rlim_cur / kibibyte);
    add(" KiB; ");
  }
};

void end_with_reason(int /*signal*/) {
  Line line;
  line.add("error: the libraries of this program did not start in ");
  line.add(static_cast<std::uint64_t>(patience));
  line.add(" s of processor time; OpenBLAS retries forever to allocate memory that the system refuses; ");
  line.add_limit("`ulimit -v` is ", RLIMIT_AS);
  line.add_limit("`ulimit -d` is ", RLIMIT_DATA);
  line.add("raise the limits of memory\n");
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line.text, line.size);
  ::_exit(exit_failed);
}

void set_timer(long seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void start_timer(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  std::signal(SIGPROF, end_with_reason);
  set_timer(patience);
}

/// Runs after the constructors of all libraries. A preloaded profiler may have claimed the timer.
[[gnu::constructor]] void stop_timer() {
  struct sigaction now {};
  if (::sigaction(SIGPROF, nullptr, &now) != 0 || now.sa_handler != end_with_reason) return;
  set_timer(0);
  std::signal(SIGPROF, SIG_DFL);
}

/// The loader calls functions in .preinit_array before it initialises any library.
[[gnu::section(".preinit_array"), gnu::used]] void (*const first_call)(int, char**, char**) = start_timer;

}  // namespace
