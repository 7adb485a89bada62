// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/wait_for_bytes.hpp"

#include <poll.h>

#include <cerrno>

namespace bellwether::input {

void wait_for_bytes(int descriptor, WaitPoll const& poll) {
  // A signal ends poll() of the thread that handles it. The limit is for signals that another thread handles.
  constexpr int most_ms = 50, no_limit = -1;
  for (;;) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    int const ready = ::poll(&waiting, 1, poll ? most_ms : no_limit);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    if (poll) poll();
  }
}

}  // namespace bellwether::input
