// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/device_progress.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;

TEST_CASE("work before a mark is done after the host has waited for the mark") {
  Exec const exec;
  DeviceProgress progress;
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> const value("bellwether::test::value");
  int* const at = value.data();
  progress.wait(exec, 0);  // returns at once
  for (int turn = 1; turn <= 5; ++turn) {
    Kokkos::parallel_for(
        "bellwether::test::work", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) { *at = turn; });
    progress.mark(exec);
    CHECK(progress.marked() == turn);
    progress.wait(exec, turn);
    CHECK(*static_cast<int volatile*>(at) == turn);
  }
  progress.wait(exec, 2);
}
