// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/statistics.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/app/statistics/sample_rows.hpp"

#include <cstdio>
#include <cstdlib>

/// write_statistics DIRECTORY RESUME: records steps until it is killed by test_killed_writer.py. RESUME -1 starts a new
/// run.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::int64_t const resume = std::atoll(argv[2]);
  bellwether::input::IoThread io;
  bellwether::app::StatisticsOptions options;
  options.directory = argv[1];
  options.layers = sample::layer_names();
  options.quantities = sample::quantities();
  options.flush_every = 3;
  options.segment_rows = 50;
  options.segment_layer_rows = 20;
  if (resume >= 0) options.resume = sample::point(resume);
  bellwether::app::Statistics statistics(options, io);
  std::puts("ready");
  std::fflush(stdout);
  for (std::int64_t step = resume < 0 ? 1 : resume + 1;; ++step) {
    statistics.append(sample::step_row(step));
    if (step % 2 == 0) sample::append_layers(statistics, step);
    if (step % 5 == 0) statistics.append_evaluation(sample::evaluation_row(step));
  }
}
