// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/interrupt.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/wait.h>
#include <unistd.h>

using namespace bellwether::app;

TEST_CASE("The first signal sets a flag, a later one ends the program") {
  pid_t const child = fork();
  if (child == 0) {
    Interrupt const interrupt;
    if (interrupt.requested()) _exit(1);
    raise(SIGTERM);
    raise(SIGINT);  // immediately: the same key press delivered twice
    if (interrupt.signal() != SIGTERM) _exit(2);
    usleep(600'000);
    raise(SIGTERM);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("The signal of a processor time limit stops a run, however often it arrives") {
  pid_t const child = fork();
  if (child == 0) {
    Interrupt const interrupt;
    raise(SIGXCPU);
    if (interrupt.signal() != SIGXCPU) _exit(1);
    usleep(600'000);
    raise(SIGXCPU);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("A closed terminal stops a run except under nohup; a closed pipe never does") {
  pid_t const child = fork();
  if (child == 0) {
    {
      Interrupt const interrupt;
      raise(SIGPIPE);
      if (interrupt.requested()) _exit(1);
      raise(SIGHUP);
      if (interrupt.signal() != SIGHUP) _exit(2);
    }
    std::signal(SIGHUP, SIG_IGN);
    {
      Interrupt const interrupt;
      raise(SIGHUP);
      if (interrupt.requested()) _exit(3);
    }
    raise(SIGPIPE);  // ignored as before
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGPIPE);
}
