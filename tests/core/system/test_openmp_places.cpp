// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/openmp_places.hpp"

#include <catch2/catch_test_macros.hpp>

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
