// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "tests/support/session.hpp"
#include "tests/support/spaces.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_translate_exception.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

bellwether::comm::World* running_world = nullptr;

/// After a collective timeout, other ranks may still be inside the collective. No later test could work, so abort.
CATCH_TRANSLATE_EXCEPTION(bellwether::comm::CollectiveTimeout const& stuck) {
  running_world->abort(1, stuck.what());
  return {};
}

}  // namespace

bellwether::comm::World& bellwether::test::world() { return *running_world; }

/// Runs tests on several ranks: every rank runs the same test cases in the same order. Rank 0 reports; the others
/// report only failures.
int main(int argc, char** argv) {
  Catch::Session session;
  if (int const error = session.applyCommandLine(argc, argv); error != 0) return error;
  if (bellwether::test::only_lists(session)) return session.run();

  int no_arguments = 1;
  bellwether::comm::World world(no_arguments, argv);
  running_world = &world;
  auto& ranks = world.communicator();
  ranks.set_timeout(60);
  // Catch2 seeds from the clock: without this, random inputs would differ between ranks.
  auto settings = session.configData();
  std::uint32_t seed = settings.rngSeed;
  ranks.broadcast_host(std::as_writable_bytes(std::span(&seed, 1)), 0, "bellwether::test::seed");
  settings.rngSeed = seed;
  auto const report = std::filesystem::temp_directory_path() /
                      ("bellwether_test_" + std::to_string(getpid()) + "_rank" + std::to_string(world.rank()));
  if (world.rank() > 0) {
    settings.reporterSpecifications.clear();
    settings.defaultOutputFilename = report.string();
  } else {
    std::cerr << "ranks: " << world.size() << ", execution spaces: " << bellwether::test::enabled_space_names() << '\n';
  }

  session.useConfigData(settings);

  int const outcome = session.run();
  if (world.rank() > 0) {
    if (outcome != 0 && outcome != 4) {
      std::ifstream text(report);
      std::cerr << "[rank " << world.rank() << "]\n" << text.rdbuf() << std::endl;
    }
    std::filesystem::remove(report);
  }
  double failed[2] = {outcome != 0 && outcome != 4 ? 1.0 : 0.0, outcome == 4 ? 1.0 : 0.0};
  ranks.sum_host(failed, "bellwether::test::outcome");
  if (failed[0] > 0) return 1;
  return failed[1] > 0 ? 4 : 0;
}
