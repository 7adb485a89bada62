// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/call_guard.hpp"

#include "core/system/environment.hpp"
#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"
#include "core/system/signal_free_thread.hpp"

#include <mpi.h>

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace bellwether::comm {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr auto variable = "BELLWETHER_START_DEADLINE";
constexpr double longest_timeout = 1e8;  // three years, still representable by clocks
constexpr double seconds_to_speak = 2;   // lets other ranks that wait for the same report first
constexpr double seconds_to_abort = 10;  // for MPI_Abort, which may hang, too
constexpr int failed = 1;
constexpr int before_mpi = -1;  // in place of a rank

// A property of the process, whichever guard ends it.
std::atomic<int> end_code{failed};

}  // namespace

double start_timeout() {
  char const* const text = std::getenv(variable);
  if (text == nullptr) return usual_start_timeout;
  double seconds = 0;  // strtod would accept hexadecimal numbers and the locale's comma
  auto const* const last = text + std::strlen(text);
  auto const [end, error] = std::from_chars(text, last, seconds);
  if (error != std::errc() || end != last || !(seconds > 0 && seconds <= longest_timeout))
    throw InputError(fault_of_variable(variable, text, "seconds, above 0 and at most 1e8"));
  return seconds;
}

void leave_after(double seconds, int code) {
  signal_free_thread("watch over the end of a call", [=] {
    std::this_thread::sleep_for(Seconds(seconds));
    std::_Exit(code);
  }).detach();
}

void note_end(int code) { end_code = code; }

struct CallGuard::Impl {
  Impl(char const* name, char const* moment, double limit, Watchdog* asked, int mine)
      : call(name),
        when(moment),
        timeout(limit),
        watchdog(asked),
        rank(mine),
        thread(signal_free_thread("watch over a call", [this] { watch(); })) {}
  ~Impl() {
    {
      std::lock_guard const lock(mutex);
      done = true;
    }
    wake.notify_all();
    thread.join();
  }

  /// Returns true once done. Time in which this process was suspended does not count.
  bool done_within(double seconds) {
    auto const began = RunClock::now();
    std::unique_lock lock(mutex);
    for (double left = seconds; left > 0 && !done; left = seconds - seconds_since(began))
      wake.wait_for(lock, Seconds(left), [this] { return done; });
    return done;
  }

  void watch() {
    if (done_within(timeout / 2)) return;
    if (watchdog != nullptr) watchdog->ask();
    if (!done_within(timeout / 2)) leave();
  }

  [[noreturn]] void leave() const {
    int const code = end_code;
    bool const lost = code == failed;
    leave_after(seconds_to_speak + seconds_to_abort, code);
    if (rank == before_mpi) leave_before_mpi(code);
    std::string const others = watchdog != nullptr ? ", " + watchdog->report() : "";
    std::fprintf(stderr, "[rank %d] %s: timeout: %s %s, not finished after %g s%s%s\n", rank,
                 lost ? "error" : "warning", call, when, timeout, others.c_str(), lost ? "" : "; nothing is lost");
    std::fflush(nullptr);
    std::this_thread::sleep_for(Seconds(seconds_to_speak));
    MPI_Abort(MPI_COMM_WORLD, code);  // without it, a launcher may wait for a stuck rank
    std::_Exit(code);
  }

  [[noreturn]] void leave_before_mpi(int code) const {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    std::fprintf(
        stderr,
        "[%s] error: timeout: %s %s, not finished after %g s; a rank of this job did not reach it. Every process "
        "that the launcher starts must be this program. %s sets the limit\n",
        host, call, when, timeout, variable);
    std::fflush(nullptr);
    std::_Exit(code);
  }

  char const *call, *when;
  double timeout;
  Watchdog* watchdog;
  int rank;
  std::mutex mutex;  // guards the members below
  std::condition_variable wake;
  bool done = false;
  std::thread thread;  // last: it uses all members above
};

CallGuard::CallGuard(char const* call, char const* when, double timeout, Watchdog* watchdog) {
  int size = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size == 1) return;
  // Size 0: a rank in another call then counts as elsewhere, not as behind.
  if (watchdog != nullptr) watchdog->begin(call, when, 0);
  impl_ = std::make_unique<Impl>(call, when, timeout, watchdog, rank);
}

CallGuard::CallGuard(BeforeMpi, char const* call, char const* when, double timeout)
    : impl_(std::make_unique<Impl>(call, when, timeout, nullptr, before_mpi)) {}

CallGuard::~CallGuard() = default;

}  // namespace bellwether::comm
