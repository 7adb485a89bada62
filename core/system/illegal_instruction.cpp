// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/illegal_instruction.hpp"

#include <pthread.h>
#include <setjmp.h>

#include <csignal>

namespace bellwether {
namespace {

// A signal handler receives nothing else.
sigjmp_buf before_work;
pthread_t caller;

void leave_work(int /*signal*/) {
  if (pthread_equal(pthread_self(), caller) != 0) siglongjmp(before_work, 1);
  std::signal(SIGILL, SIG_DFL);  // another thread cannot go back: its instruction repeats and ends the program
}

}  // namespace

bool has_instructions_of(void (*work)()) {
  struct sigaction leave {
  }, previous{};
  leave.sa_handler = leave_work;
  caller = pthread_self();
  sigaction(SIGILL, &leave, &previous);
  bool volatile complete = false;  // volatile: it is read after siglongjmp()
  if (sigsetjmp(before_work, 1) == 0) {
    work();
    complete = true;
  }
  sigaction(SIGILL, &previous, nullptr);
  return complete;
}

}  // namespace bellwether
