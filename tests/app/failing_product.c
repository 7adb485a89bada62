// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded into the program by fault_runs.py: one matrix product of one rank goes wrong once, as on hardware that
// fails for a moment. A gradient that is not finite for a single step cannot be had by settings or data alone.
//
//   FAILING_RANK     the rank
//   FAILING_STRIDE   from one row of the result to the next; that of logits: once in each forward pass
//   FAILING_PASS     which of these products, counted from 1
#define _GNU_SOURCE
#include <cblas.h>

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

static long number(char const* name, char const* other_name) {
  char const* text = getenv(name);
  if (!text && other_name) text = getenv(other_name);
  return text ? atol(text) : -1;
}

void cblas_sgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, blasint m, blasint n, blasint k,
                 float alpha, float const* a, blasint lda, float const* b, blasint ldb, float beta, float* c,
                 blasint ldc) {
  // A product comes in tiles, of which the first is always at the same place. With one thread nothing else comes
  // between.
  static float const* first_tile;
  static long passes, rank, stride, wanted;
  static __typeof__(&cblas_sgemm) real;
  if (!real) {
    real = (__typeof__(&cblas_sgemm))dlsym(RTLD_NEXT, "cblas_sgemm");
    rank = number("OMPI_COMM_WORLD_RANK", "PMI_RANK");
    stride = number("FAILING_STRIDE", NULL);
    wanted = rank == number("FAILING_RANK", NULL) ? number("FAILING_PASS", NULL) : -1;
  }
  real(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (ldc != stride) return;
  if (!first_tile) first_tile = c;
  if (c == first_tile && ++passes == wanted) c[0] = NAN;
}
