// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/core_warning.hpp"

#include "app/format/readable_numbers.hpp"
#include "comm/transport/world.hpp"

#include <cstdlib>
#include <thread>

namespace bellwether::app {

std::string core_warning(comm::World const& world) {
  int const threads = world.nodes().ranks_here * world.threads();
  int const cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores <= 0 || threads <= cores) return "";
  return counted(world.nodes().ranks_here, "rank") + " with " + counted(world.threads(), "thread") + " each share " +
         counted(cores, "core") + " of " + world.host() + ", which is slow: lower " +
         (std::getenv("KOKKOS_NUM_THREADS") != nullptr ? "KOKKOS_NUM_THREADS" : "OMP_NUM_THREADS") +
         " or the number of ranks";
}

}  // namespace bellwether::app
