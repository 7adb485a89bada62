// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/interrupt.hpp"
#include "app/progress.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

using namespace bellwether::app;

TEST_CASE("The first signal sets a flag, a later one ends the program") {
  pid_t const child = fork();
  if (child == 0) {
    Interrupt const interrupt;
    if (interrupt.requested()) _exit(1);
    raise(SIGTERM);
    raise(SIGINT);  // at once: the same key press delivered twice
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

TEST_CASE("Progress away from a terminal is plain lines") {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  {
    Progress progress({.steps = 4, .print_every = 2, .gemm_flops_per_second = 1000}, out);
    for (std::int64_t step = 1; step <= 4; ++step) {
      StepRow row;
      row.step = step;
      row.loss = 5.5;
      row.mlm_accuracy = 0.25;
      row.learning_rate = 0.001;
      row.tokens = 2000 * step;
      row.wall_seconds = 2 * static_cast<double>(step);
      progress.step(row, 1000);
    }
  }
  std::fclose(out);
  std::string const lines(text, size);
  std::free(text);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(lines, ContainsSubstring("step 2/4 (50%)  loss 5.500  mlm acc 25.0%  lr 0.001  1.00k tok/s  "
                                      "50.0% of GEMM speed  4s left\n"));
  CHECK_THAT(lines, !ContainsSubstring("step 3/4") && ContainsSubstring("step 4/4"));
}
