// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace bellwether {

/// The name of a kernel, bellwether::<component>::<step>, as a template argument.
template <std::size_t size>
struct KernelName {
  consteval KernelName(char const (&letters)[size]) { std::copy_n(letters, size, text); }

  char text[size];
};

/// Runs `kernel` once for each item of `policy`, under `name` in profiles. Kokkos takes names as std::string; this one
/// is made once, because a step must not allocate memory.
template <KernelName name, class Policy, class Kernel>
void launch(Policy const& policy, Kernel const& kernel) {
  static std::string const label(name.text);
  Kokkos::parallel_for(label, policy, kernel);
}

}  // namespace bellwether
