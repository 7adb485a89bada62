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
void multiply_panels(product::Operand<A> const& a, product::Operand<B> const& b, GemmExtents const& extents,
                     Matrix<C> const& c, Scaling<float> const& scaling, float* row_sums = nullptr) {
  if constexpr (std::is_same_v<B, bf16>) {
#if defined(BELLWETHER_AMX)  // the functions exist only in builds for CPUs that have the unit
    if (product::has_matrix_unit()) {
      product::multiply_by_matrix_unit(a, b, extents, c, scaling, row_sums);
      return;
    }
#endif
  }
  using Words = std::conditional_t<std::is_same_v<B, float>, product::FloatWords, product::CpuWords>;
  if constexpr (std::is_same_v<C, float>)
    product::multiply<Words>(a, b, extents, c, scaling, row_sums);
  else
    product::multiply<Words>(a, b, extents, c, scaling);
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

/// Multiplies by a function of BLAS.
template <class Function, class T>
void multiply_by(Function* function, GemmShape const& p, ConstMatrix<T> const& a, ConstMatrix<T> const& b,
                 Matrix<T> const& c, Scaling<T> const& scaling) {
  function(CblasRowMajor, blas(p.op_a), blas(p.op_b), static_cast<int>(p.m), static_cast<int>(p.n),
           static_cast<int>(p.k), scaling.alpha, a.at, static_cast<int>(a.ld), b.at, static_cast<int>(b.ld),
           scaling.beta, c.at, static_cast<int>(c.ld));
}

}  // namespace

template <class A, class B, class C>
void gemm_tile(GemmShape const& shape, ConstMatrix<A> const& a, ConstMatrix<B> const& b, Matrix<C> const& c,
               Scaling<SumOf<C>> const& scaling) {
  if constexpr (std::is_same_v<B, double>)
    multiply_by(cblas_dgemm, shape, a, b, c, scaling);
  else if constexpr (std::is_same_v<B, float> && !product::floats_by_panels)
    multiply_by(cblas_sgemm, shape, a, b, c, scaling);
  else
    multiply_panels(product::Operand<A>{shape.op_a, a.at, a.ld}, product::Operand<B>{shape.op_b, b.at, b.ld},
                    {shape.m, shape.n, shape.k}, c, scaling);
}

template <class T>
void gemm_tile_with_sums(GemmExtents const& extents, ConstMatrix<T> const& a, ConstMatrix<T> const& b,
                         Matrix<float> const& c, float* sums) {
  multiply_panels(product::Operand<T>{Op::transpose, a.at, a.ld}, product::Operand<T>{Op::none, b.at, b.ld}, extents, c,
                  {.alpha = 1, .beta = 1}, sums);
}
template void gemm_tile_with_sums(GemmExtents const&, ConstMatrix<float> const&, ConstMatrix<float> const&,
                                  Matrix<float> const&, float*);
template void gemm_tile_with_sums(GemmExtents const&, ConstMatrix<bf16> const&, ConstMatrix<bf16> const&,
                                  Matrix<float> const&, float*);

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

#define BELLWETHER_GEMM_TILE(A, B, C)                                                                       \
  template void gemm_tile(GemmShape const&, ConstMatrix<A> const&, ConstMatrix<B> const&, Matrix<C> const&, \
                          Scaling<SumOf<C>> const&);
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
