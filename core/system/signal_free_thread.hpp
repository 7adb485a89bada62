// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/system_limits.hpp"

#include <pthread.h>

#include <csignal>
#include <string_view>
#include <thread>
#include <utility>

namespace bellwether {

/// Starts a thread that receives no signals; the main thread handles them. purpose: completes "no thread to ...".
/// \throws RuntimeError if the system cannot start a thread.
template <class Work>
std::thread signal_free_thread(std::string_view purpose, Work work) {
  sigset_t every, earlier;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &earlier);
  std::thread thread;
  try {
    thread = start_thread(purpose, std::move(work));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &earlier, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &earlier, nullptr);
  return thread;
}

}  // namespace bellwether
