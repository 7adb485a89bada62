// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <vector>

namespace bellwether::test {

/// Returns a vector with these values in the memory of a space.
template <class Space = Exec, class T>
Vec<T, Space> uploaded(std::vector<T> const& values) {
  Vec<T, Space> vector("bellwether::test::vector", values.size());
  Kokkos::deep_copy(vector, Kokkos::View<T const*, Kokkos::HostSpace>(values.data(), values.size()));
  return vector;
}

/// Returns the values of a vector. Waits.
template <class View>
auto downloaded(View const& vector) {
  using T = typename View::non_const_value_type;
  std::vector<T> values(vector.size());
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(values.data(), values.size()), vector);
  return values;
}

}  // namespace bellwether::test
