// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/openmp_places.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

using namespace bellwether;

TEST_CASE("Explicit places name the CPUs to which threads are bound") {
  std::vector<int> const both{0, 1}, first{0};
  for (auto const* places : {"{0:4}", "{0},{1}", "0,1", " { 0 , 1 } ", "{0}:2:1", "{1}:2:-1", "{0}:5", "{0,1},!{1}",
                             "{0:2}:4:2", "cores", "THREADS(4)", "sockets"}) {
    INFO(places);
    CHECK(places_name(places, both));
    CHECK(places_name(places, first));
  }
  for (auto const* places : {"{0}", "{0},{100}", "{0:2:50}", "{0}:3:4", "0"}) {
    INFO(places);
    CHECK_FALSE(places_name(places, both));
    CHECK(places_name(places, first));
  }
  for (auto const* places : {"{100}", "100", "{100}:2", "{1:4}:8:4", "{-1}", "{0:0}", "{}", "",
                             "{99999999999999999999}", "{5}:999999999999999999:7"}) {
    INFO(places);
    CHECK_FALSE(places_name(places, first));
  }
  CHECK(places_name("{100}", {}));
}

TEST_CASE("A CPU of explicit places that this machine lacks is found") {
  std::vector<int> const online{0, 1, 2, 3};
  for (auto const* places : {"{0:4}", "{0,1},{2,3}", "0,3", "{0}:4:1", "{3}:4:-1", "{0:2}:2:2", "{0:4},!{100}",
                             "{0,!100}", "{0}:1000000:0", "{0:1000000:0}", "cores", "threads(100)", "{0:0}"}) {
    INFO(places);
    CHECK_FALSE(missing_cpu(places, online));
  }
  std::pair<char const*, std::int64_t> const missing[] = {
      {"{0,1,100}", 100},   {"{0},{100}", 100}, {"{0:5}", 4}, {"{0:4}:8:4", 4}, {"{0:3:2}", 4},
      {"{0}:1000000:1", 4}, {"{0:1000000}", 4}, {"0,4", 4},   {"{3}:5:-1", -1}, {"!{0},{1,!2,7}", 7}};
  for (auto const& [places, cpu] : missing) {
    INFO(places);
    CHECK(missing_cpu(places, online) == cpu);
    CHECK_FALSE(missing_cpu(places, {}));  // the CPUs of the machine are unknown
  }
}

TEST_CASE("The CPUs of the machine are read from the system") {
  TemporaryFolder const root;
  auto const folder = std::filesystem::path(root.path()) / "sys/devices/system/cpu";
  CHECK(online_cpus(root.path()).empty());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "online") << "0-2,8,10-11\n";
  CHECK(online_cpus(root.path()) == std::vector{0, 1, 2, 8, 10, 11});
}

TEST_CASE("A list of GOMP_CPU_AFFINITY names the CPUs to which threads are bound") {
  std::vector<int> const cpus{0, 2, 4};
  for (auto const* list : {"0 2 4", "0-4:2", "0-9", "4,2,0", " 0 - 4 ", "4 0-2:2"}) {
    INFO(list);
    CHECK(affinity_names(list, cpus));
  }
  for (auto const* list : {"100", "0 2", "1-5", "0-3", "4-0", "0-4:3", "x", ""}) {
    INFO(list);
    CHECK_FALSE(affinity_names(list, cpus));
  }
}
