// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/interrupt.hpp"

#include "core/system/error.hpp"

#include <atomic>
#include <ctime>

namespace bellwether::app {
namespace {

constexpr int handled[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
constexpr long long pause_ns = 500'000'000;

// A handler receives only the signal number, so its data must be global. Interrupt ensures a single user at a time.
std::atomic<bool> in_use{false};
std::atomic<int> first_signal{0};
std::atomic<long long> first_time{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<long long>::is_always_lock_free);

/// Uses only calls that POSIX allows in a handler.
extern "C" void remember(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long const time = now.tv_sec * 1'000'000'000LL + now.tv_nsec;
  int nothing = 0;
  if (first_signal.compare_exchange_strong(nothing, signal)) {
    first_time = time;
  } else if (signal != SIGXCPU && time - first_time > pause_ns) {  // the kernel repeats SIGXCPU every second
    struct sigaction leave {};
    leave.sa_handler = SIG_DFL;
    sigaction(signal, &leave, nullptr);
    raise(signal);  // delivered when this handler returns
  }
}

}  // namespace

Interrupt::Interrupt() {
  require(!in_use.exchange(true), "another Interrupt object exists");
  first_signal = 0;
  struct sigaction handler {};
  handler.sa_handler = remember;
  handler.sa_flags = SA_RESTART;  // interrupted reads and writes continue
  sigfillset(&handler.sa_mask);   // otherwise a second signal could arrive before first_time is set
  for (int const signal : handled) sigaction(signal, &handler, &earlier_[signal]);
  if (earlier_[SIGHUP].sa_handler == SIG_IGN) sigaction(SIGHUP, &earlier_[SIGHUP], nullptr);  // started by nohup
  handler.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &handler, &earlier_[SIGPIPE]);
}

Interrupt::~Interrupt() {
  for (auto const& [signal, handler] : earlier_) sigaction(signal, &handler, nullptr);
  in_use = false;
}

bool Interrupt::requested() const { return first_signal != 0; }
int Interrupt::signal() const { return first_signal; }

}  // namespace bellwether::app
