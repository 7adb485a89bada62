// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/device_launch.hpp"
#include "core/gemm/gemm.hpp"
#include "tests/support/session.hpp"
#include "tests/support/spaces.hpp"

#include <Kokkos_Core.hpp>

#include <iostream>

/// Runs tests without MPI. Listing the tests does not use a device.
int main(int argc, char** argv) {
  Catch::Session session;
  if (int const error = session.applyCommandLine(argc, argv); error != 0) return error;
  if (bellwether::test::only_lists(session)) return session.run();
  Kokkos::ScopeGuard const kokkos;
  bellwether::start_device();
  bellwether::use_single_threaded_blas();
  std::cerr << "execution spaces: " << bellwether::test::enabled_space_names() << '\n';
  return session.run();
}
