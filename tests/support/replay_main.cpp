// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// mpirun -np P replay IN.json OUT.json: the product's optimizers over recorded gradients.
#include "comm/world.hpp"
#include "core/error.hpp"
#include "tests/support/replay.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace bellwether;

namespace {

void run(std::string const& from, std::string const& to, comm::World& world) {
  std::ifstream file(from);
  if (!file) throw InputError(from + ": cannot be read");
  auto const result = test::replay(nlohmann::json::parse(file), world.communicator());
  if (world.rank() != 0) return;
  std::ofstream out(to + ".part");
  out << result.dump() << '\n';
  out.close();
  if (!out) throw InputError(to + ": cannot be written");
  std::filesystem::rename(to + ".part", to);
}

}  // namespace

int main(int argc, char** argv) {
  comm::World world(argc, argv);
  if (argc != 3) {
    if (world.rank() == 0) std::cerr << "usage: replay IN.json OUT.json\n";
    return 2;
  }
  try {
    run(argv[1], argv[2], world);
  } catch (std::exception const& error) {
    world.abort(2, std::string("error: ") + argv[1] + ": " + error.what());
  }
  return 0;
}
