// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm_tile.hpp"

#include "core/gemm_panels.hpp"

#include <cblas.h>

namespace bellwether {
namespace {

CBLAS_TRANSPOSE blas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }

}  // namespace

void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, float alpha, float const* a, Index lda, float const* b,
               Index ldb, float beta, float* c, Index ldc, ComputeType type) {
  if (type == ComputeType::bf16)
    product::multiply<product::CpuWords>({op_a, a, lda}, {op_b, b, ldb}, m, n, k, alpha, beta, c, ldc);
  else
    cblas_sgemm(CblasRowMajor, blas(op_a), blas(op_b), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, double alpha, double const* a, Index lda, double const* b,
               Index ldb, double beta, double* c, Index ldc, ComputeType /*type*/) {
  cblas_dgemm(CblasRowMajor, blas(op_a), blas(op_b), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
              alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

bool has_bf16_products() { return product::CpuWords::depth == 2; }

void use_single_threaded_blas() { openblas_set_num_threads(1); }

}  // namespace bellwether
