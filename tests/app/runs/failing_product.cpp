// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Linked into a second program for fault_runs.py, whose products of floats are these: one of one rank goes wrong once,
// as on hardware that fails for a moment. A gradient that is not finite for a single step cannot be had by settings or
// data alone.
//
//   FAILING_RANK     the rank
//   FAILING_STRIDE   from one row of the result to the next; that of logits: once in each forward pass
//   FAILING_PASS     which of these products, counted from 1
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

// The linker takes it before the instance of the library, which is a weak symbol as all instances of templates are.
template <>
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, float alpha, float const* a, Index lda, float const* b,
               Index ldb, float beta, float* c, Index ldc) {
  static bool const fails = number("OMPI_COMM_WORLD_RANK", "PMI_RANK") == number("FAILING_RANK");
  static long const stride = number("FAILING_STRIDE"), wanted = fails ? number("FAILING_PASS") : -1;
  // A product comes in tiles, of which the first is always at the same place. With one thread nothing else comes
  // between.
  static float const* first_tile = nullptr;
  static long passes = 0;
  product::multiply<product::FloatWords>(product::Operand<float>{op_a, a, lda}, product::Operand<float>{op_b, b, ldb},
                                         m, n, k, alpha, beta, c, ldc);
  if (ldc != stride) return;
  if (first_tile == nullptr) first_tile = c;
  if (c == first_tile && ++passes == wanted) c[0] = std::numeric_limits<float>::quiet_NaN();
}

}  // namespace bellwether
