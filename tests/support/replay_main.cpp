// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// mpirun -np P replay IN.json OUT.json: runs the product's optimizers on recorded gradients.
#include "app/launch/collective_errors.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "tests/support/replay.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

using namespace bellwether;

namespace {

test::ReplayInput read(std::string const& from, int ranks) {
  try {
    std::ifstream file(from);
    if (!file) throw InputError("cannot be read; allowed: a JSON file");
    return {test::parse_json(file), ranks};
  } catch (InputError const& error) {
    auto faults = error.faults();
    for (auto& fault : faults) fault.insert(0, from + ": ");
    throw InputError(faults);
  }
}

void write(nlohmann::ordered_json const& result, std::string const& to) {
  std::ofstream out(to + ".part");
  out << result.dump() << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(to + ".part", to, error);
  if (!out || error) throw InputError(to + ": cannot be written");
}

/// Reports a failure that every rank has found; rank 0 prints it. Collective. Returns the exit code.
int told(comm::World const& world, std::vector<std::string> const& faults, int code) {
  if (world.rank() == 0)
    for (auto const& fault : faults) std::cerr << "error: " << fault << '\n';
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  comm::World world(argc, argv);
  if (argc != 3) {
    if (world.rank() == 0) std::cerr << "usage: replay IN.json OUT.json\n";
    return 2;
  }
  try {
    auto& ranks = world.communicator();
    std::optional<test::ReplayInput> input;
    app::together(ranks, [&] { input = read(argv[1], ranks.size()); });
    auto const result = test::replay(*input, ranks);
    app::together(ranks, [&] {
      if (ranks.rank() == 0) write(result, argv[2]);
    });
  } catch (app::CommonError const& error) {
    return told(world, error.faults(), 2);
  } catch (app::CommonFailure const& error) {
    return told(world, {error.what()}, 1);
  } catch (std::exception const& error) {
    world.abort(1, std::string("error: ") + argv[1] + ": " + error.what());
  }
  return 0;
}
