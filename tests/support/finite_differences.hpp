// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"
#include "core/types.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace bellwether::test {

/// Copies host values to the memory of an execution space; to_host() copies back.
template <class Space, class T>
Vec<T, Space> to_space(std::vector<T> const& from) {
  Vec<T, Space> to("bellwether::test::values", from.size());
  Kokkos::deep_copy(to, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  return to;
}
template <class View>
std::vector<double> to_host(View const& from) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  return {host.data(), host.data() + host.extent(0)};
}

/// Returns numbers that are uniform in [-scale, scale).
inline std::vector<double> random_values(Index count, std::uint64_t seed, double scale = 1) {
  RandomStream random(seed, Purpose::pairs, 0);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = scale * (2 * random.real() - 1);
  return values;
}
template <class Space, class T = double>
Vec<T, Space> random_numbers(Index count, std::uint64_t seed, double scale = 1) {
  std::vector<T> numbers;
  for (double const value : random_values(count, seed, scale)) numbers.push_back(T(value));
  return to_space<Space>(numbers);
}
template <class Space, class T = double>
Vec<T, Space> zeros(Index count) {
  return Vec<T, Space>("bellwether::test::zeros", static_cast<std::size_t>(count));
}
template <class View>
View copy_of(View const& from) {
  View to("bellwether::test::copy", from.extent(0));
  Kokkos::deep_copy(to, from);
  return to;
}

inline double dot(std::vector<double> const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}
template <class View>
double dot(View const& a, View const& b) {
  return dot(to_host(a), to_host(b));
}

/// Compares the gradient of value() in x with fourth-order central differences. It checks a few hundred elements of x
/// one by one, and all of them together along a random direction. Tolerances are relative to the largest slope, and to
/// the gradient's norm.
template <class View, class Value>
void check_gradient(std::string const& name, View const& x, View const& gradient, Value const& value) {
  constexpr double step = 1e-3, tolerance = 1e-6;
  auto const start = to_host(x), g = to_host(gradient);
  auto const slope_along = [&](std::vector<double> const& direction) {
    double slope = 0;
    for (auto const& [distance, weight] : {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}}) {
      auto moved = start;
      for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += distance * step * direction[k];
      Kokkos::deep_copy(x, to_space<typename View::execution_space>(moved));
      slope += weight * value() / (12 * step);
    }
    return slope;
  };
  double largest = 0, difference = 0;
  std::vector<double> direction(start.size(), 0.0);
  std::size_t const stride = start.size() / 200 | 1;
  for (std::size_t k = 0; k < start.size(); k += stride) {
    direction[k] = 1;
    double const slope = slope_along(direction);
    direction[k] = 0;
    largest = larger(largest, slope);
    difference = larger(difference, g[k] - slope);
  }
  direction = random_values(static_cast<Index>(start.size()), 99);
  double const together = slope_along(direction) - dot(g, direction);
  Kokkos::deep_copy(x, to_space<typename View::execution_space>(start));
  INFO(name << ": largest slope " << largest << ", largest difference " << difference << ", together " << together);
  CHECK(largest > 1e-3);  // a zero gradient would agree with anything
  CHECK(difference <= tolerance * largest);
  CHECK(std::abs(together) <= tolerance * std::sqrt(dot(g, g)));
}

}  // namespace bellwether::test
