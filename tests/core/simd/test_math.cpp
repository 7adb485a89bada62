// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/simd/math.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace bellwether;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Returns the maximum of error(x) over `steps` points of [from, to].
template <class Error>
double largest(float from, float to, int steps, Error const& error) {
  double most = 0;
  for (int i = 0; i <= steps; ++i) most = test::larger(most, error(from + (to - from) * static_cast<float>(i) / steps));
  return most;
}

/// Evaluates f in a kernel at `steps` + 1 points of [from, to]; returns pairs of x and f(x).
template <class Space, class Function>
std::vector<double> by_kernel(float from, float to, int steps, Function const& f) {
  Vec<float, Space> const pairs("bellwether::test::values", static_cast<std::size_t>(2 * (steps + 1)));
  float* const values = pairs.data();
  Kokkos::parallel_for(
      "bellwether::test::function", Kokkos::RangePolicy<Space>(Space(), 0, steps + 1), KOKKOS_LAMBDA(int i) {
        float const x = from + (to - from) * static_cast<float>(i) / static_cast<float>(steps);
        values[2 * i] = x;
        values[2 * i + 1] = f(x);
      });
  return test::to_host(pairs);
}

struct Exp {
  KOKKOS_INLINE_FUNCTION float operator()(float x) const { return math::exp(x); }
};
struct Cumulative {
  KOKKOS_INLINE_FUNCTION float operator()(float x) const { return math::normal(x).cumulative; }
};

double ulp(double value) {
  auto const x = static_cast<float>(value);
  return static_cast<double>(std::nextafter(x, infinity)) - x;
}

}  // namespace

TEST_CASE("exp is within 2 ulp, clamps, and passes NaN through") {
  CHECK(largest(-87, 88, 1000003, [](float x) {
          double const exact = std::exp(static_cast<double>(x));
          return std::fabs(math::exp(x) - exact) / ulp(exact);
        }) < 2);
  CHECK(math::exp(0.0f) == 1.0f);
  CHECK(math::exp(-infinity) == math::exp(-87.0f));
  CHECK(math::exp(infinity) == math::exp(88.0f));
  CHECK(std::isnan(math::exp(not_a_number)));
}

TEST_CASE("tanh is within 2e-7, odd, and 1 at infinity") {
  CHECK(largest(-20, 20, 1000003,
                [](float x) { return std::fabs(math::tanh(x) - std::tanh(static_cast<double>(x))); }) < 2e-7);
  CHECK(math::tanh(-0.3f) == -math::tanh(0.3f));
  CHECK(math::tanh(infinity) == 1.0f);
  CHECK(math::tanh(-infinity) == -1.0f);
  CHECK(std::isnan(math::tanh(not_a_number)));
}

TEST_CASE("the standard normal is within 3e-7 of the library's: 1.5e-7 from the formula, the rest from rounding") {
  CHECK(largest(-10, 10, 1000003, [](float x) {
          auto const n = math::normal(x);
          auto const exact = math::normal(static_cast<double>(x));
          return test::larger(std::fabs(n.cumulative - exact.cumulative), n.density - exact.density);
        }) < 3e-7);
  CHECK(std::isnan(math::normal(not_a_number).cumulative));
}

TEST_CASE("clamp respects bounds and passes NaN through") {
  CHECK(math::clamp(3.0f, -1.0f, 2.0f) == 2.0f);
  CHECK(math::clamp(-3.0f, -1.0f, 2.0f) == -1.0f);
  CHECK(math::clamp(0.5f, -1.0f, 2.0f) == 0.5f);
  CHECK(math::clamp(1e38f, -infinity, infinity) == 1e38f);
  CHECK(std::isnan(math::clamp(not_a_number, -1.0f, 2.0f)));
}

TEMPLATE_LIST_TEST_CASE("exp and the normal distribution in kernels are within the error of device instructions", "",
                        test::Spaces) {
  constexpr int steps = 100003;
  auto const exponentials = by_kernel<TestType>(-86, 88, steps, Exp());
  auto const normals = by_kernel<TestType>(-10, 10, steps, Cumulative());
  double by_exp = 0, by_normal = 0;
  for (std::size_t i = 0; i < exponentials.size(); i += 2) {
    double const exact = std::exp(exponentials[i]);
    by_exp = test::larger(by_exp, (exponentials[i + 1] - exact) / ulp(exact));
    by_normal = test::larger(by_normal, normals[i + 1] - math::normal(normals[i]).cumulative);
  }
  CHECK(by_exp < 4);
  CHECK(by_normal < 4e-7);
}
