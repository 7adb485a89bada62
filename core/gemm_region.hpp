// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <optional>
#include <string>

namespace bellwether {

/// A product's name to Kokkos' tools while it is formed; without a tool, no text is made.
class GemmRegion {
 public:
  GemmRegion(Index m, Index n, Index k) {
    if (Kokkos::Tools::profileLibraryLoaded())
      region_.emplace("bellwether::core::gemm m=" + std::to_string(m) + " n=" + std::to_string(n) +
                      " k=" + std::to_string(k));
  }

 private:
  std::optional<Kokkos::Profiling::ScopedRegion> region_;
};

}  // namespace bellwether
