// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/inspect.hpp"
#include "input/io_thread.hpp"

#include <iostream>
#include <limits>
#include <memory>
#include <string>

namespace bellwether::app {

void add_inspect(CLI::App& program, Action& chosen) {
  struct Options {
    std::string path;
    InspectOptions inspect;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("inspect", "Say what a shard, a checkpoint or a statistics file holds");
  command->add_option("file", options->path, "an HDF5 file, or a folder of them such as step_1000; or checkpoints/")
      ->required()
      ->check(paths());
  command->add_option("--rows", options->inspect.rows, "rows of a shard to print")
      ->check(whole_numbers(0, std::numeric_limits<std::int64_t>::max()));
  command->add_flag("--deck", options->inspect.show_deck, "print the deck stored in a checkpoint");
  command->add_flag("--damaged", options->inspect.damaged,
                    "look into files of a checkpoint that are not as its manifest says");
  command->callback([options, &chosen] {
    chosen = [options](Session&) {
      input::IoThread io;
      io.run(input::IoThread::Priority::read_ahead, [&] { inspect(options->path, options->inspect, std::cout); });
      return 0;
    };
  });
}

}  // namespace bellwether::app
