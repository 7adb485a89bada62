// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/inspect.hpp"
#include "input/threads/io_thread.hpp"

#include <iostream>
#include <limits>
#include <memory>
#include <string>

namespace bellwether::app {

void add_inspect(Command program) {
  struct Options {
    std::string path;
    InspectOptions inspect;
  };
  auto options = std::make_shared<Options>();
  auto const command =
      program.subcommand("inspect", "Print the contents of a shard, a checkpoint or a statistics file");
  command.option("file", options->path, "an HDF5 file, or a folder of them such as step_1000; or checkpoints/")
      .required()
      .check(paths());
  command.option("--rows", options->inspect.rows, "rows of a shard to print")
      .check(whole_numbers(0, std::numeric_limits<std::int64_t>::max()));
  command.flag("--deck", options->inspect.show_deck, "print the deck stored in a checkpoint");
  command.flag("--damaged", options->inspect.damaged, "also read files of a checkpoint that differ from its manifest");
  command.when_given([options] {
    return [options](Session&) {
      input::IoThread io;
      io.run(input::IoThread::Priority::read_ahead, [&] { inspect(options->path, options->inspect, std::cout); });
      return 0;
    };
  });
}

}  // namespace bellwether::app
