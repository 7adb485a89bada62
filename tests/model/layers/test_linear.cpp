// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Compares products fused with bias and GELU with plain products followed by the hosts' kernels.
#include "core/device/team_sum.hpp"
#include "core/gemm/gemm.hpp"
#include "model/layers/activation.hpp"
#include "model/layers/linear.hpp"
#include "model/layers/rows.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;
using namespace bellwether::model;
using test::copy_of;
using test::random_numbers;
using test::to_host;
using test::zeros;

namespace {

constexpr Index rows = row_block + 3, in = 24, out = 40;

template <class View>
void compare_sums(View const& found, View const& expected, double allowed) {
  auto const a = to_host(found), b = to_host(expected);
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = test::larger(largest, b[k]);
    difference = test::larger(difference, a[k] - b[k]);
  }
  CHECK(difference <= allowed * largest);
}

/// Requires equal bits on hosts. On devices, and on hosts that emulate them, sums have another order. Also, a number
/// stored in bf16 is rounded once instead of twice, and its bias before the sum.
template <class Space, class View>
void compare(View const& found, View const& expected, double allowed) {
  if constexpr (TeamShape<Space>::host)
    CHECK(to_host(found) == to_host(expected));
  else
    compare_sums(found, expected, allowed);
}

/// Compares gradients of weights and bias, which a host may compute together, with those of the plain kernels.
template <class Space, class Real, class Stored>
void check_gradients(Index count, double allowed) {
  Space const exec;
  constexpr Index stride = out + 3;
  auto const x = random_numbers<Space, Stored>(count * in, 1), dy = random_numbers<Space, Stored>(count * stride, 2);
  auto const dW = random_numbers<Space, Real>(out * in, 3), expected = copy_of(dW);
  auto const dbias = random_numbers<Space, Real>(out, 4), expected_dbias = copy_of(dbias),
             partial = zeros<Space, Real>(row_blocks(count) * out);
  linear_gradients(exec,
                   LinearGradients<Real, Stored>{.rows = count,
                                                 .in = in,
                                                 .out = out,
                                                 .stride = stride,
                                                 .dy = dy.data(),
                                                 .x = x.data(),
                                                 .dW = dW.data(),
                                                 .dbias = dbias.data()},
                   partial.data());
  gemm(exec, {Op::transpose, Op::none, out, in, count}, ConstMatrix{dy.data(), stride}, ConstMatrix{x.data(), in},
       Matrix{expected.data(), in}, {.beta = 1});
  add_column_sums(exec, StoredRows<Stored>{count, stride, dy.data()}, out, partial.data(), expected_dbias.data());
  exec.fence("bellwether::test::linear_gradients");
  compare<Space>(dW, expected, allowed);
  compare_sums(dbias, expected_dbias, allowed);
}

template <class Space, class Real, class Stored>
void check(Activation kind, double allowed) {
  Space const exec;
  auto const x = random_numbers<Space, Stored>(rows * in, 1), W = random_numbers<Space, Stored>(out * in, 2),
             dz = random_numbers<Space, Stored>(rows * in, 4), V = random_numbers<Space, Stored>(in * out, 5);
  auto const bias = random_numbers<Space, Real>(out, 3);
  auto const rounded = random_numbers<Space, Stored>(out, 3);
  Bias<Real, Stored> const added{bias.data(), rounded.data()};
  auto const y = zeros<Space, Stored>(rows * out), expected = copy_of(y);
  linear_forward(exec,
                 LinearForward<Real, Stored>{
                     .rows = rows, .in = in, .out = out, .x = x.data(), .W = W.data(), .bias = added, .y = y.data()});
  gemm(exec, {Op::none, Op::transpose, rows, out, in}, ConstMatrix{x.data(), in}, ConstMatrix{W.data(), in},
       Matrix{expected.data(), out});
  add_bias(exec, rows, out, bias.data(), expected.data());
  exec.fence("bellwether::test::linear");
  compare<Space>(y, expected, allowed);

  auto const pre = copy_of(y), expected_pre = copy_of(y);
  linear_gelu_forward(exec, kind,
                      LinearGeluForward<Real, Stored>{.rows = rows,
                                                      .in = in,
                                                      .out = out,
                                                      .x = x.data(),
                                                      .W = W.data(),
                                                      .bias = added,
                                                      .pre = pre.data(),
                                                      .y = y.data()});
  gemm(exec, {Op::none, Op::transpose, rows, out, in}, ConstMatrix{x.data(), in}, ConstMatrix{W.data(), in},
       Matrix{expected_pre.data(), out});
  bias_gelu_forward(exec, kind,
                    BiasGeluForward<Real, Stored>{
                        .rows = rows, .F = out, .bias = bias.data(), .pre = expected_pre.data(), .y = expected.data()});
  exec.fence("bellwether::test::gelu");
  compare<Space>(pre, expected_pre, allowed);
  compare<Space>(y, expected, allowed);

  auto const dbias = random_numbers<Space, Real>(out, 6), expected_dbias = copy_of(dbias),
             partial = zeros<Space, Real>(row_blocks(rows) * out);
  gelu_linear_backward(exec, kind,
                       GeluLinearBackward<Real, Stored>{.rows = rows,
                                                        .in = out,
                                                        .out = in,
                                                        .dz = dz.data(),
                                                        .V = V.data(),
                                                        .pre = pre.data(),
                                                        .dpre = y.data(),
                                                        .dbias = dbias.data()},
                       partial.data());
  gemm(exec, {Op::none, Op::none, rows, out, in}, ConstMatrix{dz.data(), in}, ConstMatrix{V.data(), out},
       Matrix{expected.data(), out});
  bias_gelu_backward(exec, kind,
                     BiasGeluBackward<Real, Stored, Stored>{.rows = rows,
                                                            .F = out,
                                                            .pre = pre.data(),
                                                            .dy = expected.data(),
                                                            .dpre = expected.data(),
                                                            .dbias = expected_dbias.data()},
                     partial.data());
  exec.fence("bellwether::test::slope");
  compare<Space>(y, expected, allowed);
  compare<Space>(dbias, expected_dbias, allowed);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("fused products with bias and GELU agree with the plain kernels", "", test::Spaces) {
  auto const kind = GENERATE(Activation::gelu_erf, Activation::gelu_tanh);
  check<TestType, double, double>(kind, 1e-13);
  check<TestType, float, float>(kind, 1e-5);
  check<TestType, float, bf16>(kind, 0x1p-6);
}

TEMPLATE_LIST_TEST_CASE("gradients of weights and bias agree with the plain kernels", "", test::Spaces) {
  for (Index const count : {Index{0}, Index{1}, rows, Index{1100}}) {
    CAPTURE(count);
    check_gradients<TestType, double, double>(count, 1e-13);
    check_gradients<TestType, float, float>(count, 1e-5);
    check_gradients<TestType, float, bf16>(count, 1e-5);
  }
}

TEMPLATE_LIST_TEST_CASE("products without rows or columns work", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  auto const bias = random_numbers<Space>(8, 1), y = zeros<Space>(2 * 8), none = zeros<Space>(0);
  LinearForward<double, double> layer{.rows = 0,
                                      .in = 4,
                                      .out = 8,
                                      .x = none.data(),
                                      .W = none.data(),
                                      .bias = {bias.data(), bias.data()},
                                      .y = y.data()};
  linear_forward(exec, layer);
  exec.fence("bellwether::test::no_rows");
  CHECK(to_host(y) == std::vector<double>(16, 0.0));
  layer.rows = 2;
  layer.in = 0;
  linear_forward(exec, layer);
  exec.fence("bellwether::test::no_columns");
  auto const values = to_host(y), added = to_host(bias);
  for (std::size_t k = 0; k < 16; ++k) CHECK(values[k] == added[k % 8]);
}
