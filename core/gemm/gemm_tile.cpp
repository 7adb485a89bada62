// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm_tile.hpp"

#include "core/gemm/gemm_panels.hpp"
#include "core/system/environment.hpp"
#include "core/system/illegal_instruction.hpp"

#include <cblas.h>

#include <cstdlib>

namespace bellwether {
namespace {

/// Multiplies by panels, on the matrix unit if operands are bf16 and the CPU has one. Arguments as in gemm_tile().
/// row_sums: null, or (m) with C of float; adds the row sums of a transposed A.
template <class A, class B, class C>
void multiply_panels(product::Operand<A> const& a, product::Operand<B> const& b, Index m, Index n, Index k, float alpha,
                     float beta, C* c, Index ldc, float* row_sums = nullptr) {
  if constexpr (std::is_same_v<B, bf16>) {
#if defined(BELLWETHER_AMX)  // the functions exist only in builds for CPUs that have the unit
    if (product::has_matrix_unit()) {
      product::multiply_by_matrix_unit(a, b, m, n, k, alpha, beta, c, ldc, row_sums);
      return;
    }
#endif
  }
  using Words = std::conditional_t<std::is_same_v<B, float>, product::FloatWords, product::CpuWords>;
  if constexpr (std::is_same_v<C, float>)
    product::multiply<Words>(a, b, m, n, k, alpha, beta, c, ldc, row_sums);
  else
    product::multiply<Words>(a, b, m, n, k, alpha, beta, c, ldc);
}

/// Multiplies small matrices of both types by BLAS, on the calling thread.
void multiply_by_blas() {
  constexpr int extent = 48;
  static float floats[3][extent * extent];
  static double doubles[3][extent * extent];
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, extent, extent, extent, 1, floats[0], extent, floats[1], extent,
              0, floats[2], extent);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, extent, extent, extent, 1, doubles[0], extent, doubles[1],
              extent, 0, doubles[2], extent);
}

CBLAS_TRANSPOSE blas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }

}  // namespace

template <class A, class B, class C>
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, SumOf<C> alpha, A const* a, Index lda, B const* b,
               Index ldb, SumOf<C> beta, C* c, Index ldc) {
  auto const by_blas = [&](auto const& call) {
    call(CblasRowMajor, blas(op_a), blas(op_b), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
         static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
  };
  if constexpr (std::is_same_v<B, double>)
    by_blas(cblas_dgemm);
  else if constexpr (std::is_same_v<B, float> && !product::floats_by_panels)
    by_blas(cblas_sgemm);
  else
    multiply_panels(product::Operand<A>{op_a, a, lda}, product::Operand<B>{op_b, b, ldb}, m, n, k, alpha, beta, c, ldc);
}

template <class T>
void gemm_tile_with_sums(Index m, Index n, Index k, T const* a, Index lda, T const* b, Index ldb, float* c, Index ldc,
                         float* sums) {
  multiply_panels(product::Operand<T>{Op::transpose, a, lda}, product::Operand<T>{Op::none, b, ldb}, m, n, k, 1, 1, c,
                  ldc, sums);
}
template void gemm_tile_with_sums(Index, Index, Index, float const*, Index, float const*, Index, float*, Index, float*);
template void gemm_tile_with_sums(Index, Index, Index, bf16 const*, Index, bf16 const*, Index, float*, Index, float*);

template <class T>
bool is_by_blas() {
  return std::is_same_v<T, double> || (std::is_same_v<T, float> && !product::floats_by_panels);
}
template bool is_by_blas<double>();
template bool is_by_blas<float>();
template bool is_by_blas<bf16>();

template <class T>
PackingCosts packing_costs(Op op_a, Op op_b) {
  // The matrix unit reads words of k along the rows of A and across those of B. Transposing is slower than copying.
  if (std::is_same_v<T, bf16> && product::has_matrix_unit())
    return {op_a == Op::none ? 16 : 64, op_b == Op::none ? 16 : 64};
  return {16, 16};
}
template PackingCosts packing_costs<float>(Op, Op);
template PackingCosts packing_costs<double>(Op, Op);
template PackingCosts packing_costs<bf16>(Op, Op);

#define BELLWETHER_GEMM_TILE(A, B, C) \
  template void gemm_tile(Op, Op, Index, Index, Index, SumOf<C>, A const*, Index, B const*, Index, SumOf<C>, C*, Index);
BELLWETHER_GEMM_TILE(float, float, float)
BELLWETHER_GEMM_TILE(double, double, double)
BELLWETHER_GEMM_TILE(bf16, bf16, float)
BELLWETHER_GEMM_TILE(bf16, bf16, bf16)
BELLWETHER_GEMM_TILE(float, bf16, float)
BELLWETHER_GEMM_TILE(float, bf16, bf16)

bool cpu_has_bf16_products() { return product::CpuWords::depth == 2; }

void use_single_threaded_blas() { openblas_set_num_threads(1); }

std::string fault_of_blas() {
  if (has_instructions_of(multiply_by_blas)) return "";
  constexpr auto variable = "OPENBLAS_CORETYPE";
  if (char const* const chosen = std::getenv(variable))
    return fault_of_variable(variable, chosen, "a type of CPU whose instructions this CPU has");
  return std::string("OpenBLAS multiplies with instructions that this CPU lacks, those of ") + openblas_get_corename() +
         "; use an OpenBLAS for this CPU, or set " + variable + " to an older type of CPU";
}

}  // namespace bellwether
