// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Linked into a second program for fault_runs.py and replaces its float products. One product of one rank is wrong
// once, like on hardware with a transient fault. Settings or data alone cannot make a gradient non-finite for a single
// step.
//
//   FAILING_RANK     the rank.
//   FAILING_STRIDE   row stride of the result; the stride of logits occurs once in each forward pass.
//   FAILING_PASS     index of the product that is wrong, from 1.
#include "core/gemm/gemm_panels.hpp"

#include <cstdlib>
#include <limits>

namespace bellwether {
namespace {

long number(char const* name, char const* other_name = "") {
  char const* text = std::getenv(name);
  if (text == nullptr) text = std::getenv(other_name);
  return text == nullptr ? -1 : std::atol(text);
}

}  // namespace

// The linker prefers this to the library's instance, because template instances are weak symbols.
template <>
void gemm_tile(GemmShape const& shape, ConstMatrix<float> const& a, ConstMatrix<float> const& b, Matrix<float> const& c,
               Scaling<float> const& scaling) {
  static bool const fails = number("OMPI_COMM_WORLD_RANK", "PMI_RANK") == number("FAILING_RANK");
  static long const stride = number("FAILING_STRIDE"), wanted = fails ? number("FAILING_PASS") : -1;
  // A product is computed in tiles, the first of which always has the same address. With one thread, tiles of different
  // products do not interleave.
  static float const* first_tile = nullptr;
  static long passes = 0;
  product::multiply<product::FloatWords>(product::Operand<float>{shape.op_a, a.at, a.ld},
                                         product::Operand<float>{shape.op_b, b.at, b.ld}, {shape.m, shape.n, shape.k},
                                         c, scaling);
  if (c.ld != stride) return;
  if (first_tile == nullptr) first_tile = c.at;
  if (c.at == first_tile && ++passes == wanted) c.at[0] = std::numeric_limits<float>::quiet_NaN();
}

}  // namespace bellwether
