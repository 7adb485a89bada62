// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() on NVIDIA GPUs, by cuBLAS.
#include "core/bf16.hpp"
#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/gemm_definition.hpp"
#include "core/team_product.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <map>
#include <string>

namespace bellwether {
namespace {

using Cuda = Kokkos::Cuda;

void succeed(cublasStatus_t status, char const* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw RuntimeError(std::string(call) + ": " + cublasGetStatusString(status) + " (status " +
                       std::to_string(static_cast<int>(status)) + ")");
}

cublasOperation_t blas(Op op) { return op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T; }

/// cuBLAS on one stream. Its workspace is ours: with one of its own, cuBLAS would allocate in a step and could not be
/// recorded into a graph. Operands rounded to bf16 wait in buffers that are as large as the largest so far.
struct Context {
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA recommends from Hopper on
  static constexpr std::size_t workspace_alignment = 256;                // a View's data begins at half of that

  explicit Context(cudaStream_t stream)
      : workspace("bellwether::core::cublas_workspace", workspace_bytes + workspace_alignment) {
    succeed(cublasCreate(&handle), "cublasCreate");
    succeed(cublasSetStream(handle, stream), "cublasSetStream");
    auto const beyond = reinterpret_cast<std::uintptr_t>(workspace.data()) % workspace_alignment;
    succeed(cublasSetWorkspace(handle, workspace.data() + (workspace_alignment - beyond) % workspace_alignment,
                               workspace_bytes),
            "cublasSetWorkspace");
  }
  ~Context() { cublasDestroy(handle); }
  Context(Context const&) = delete;
  Context& operator=(Context const&) = delete;

  cublasHandle_t handle = nullptr;
  Kokkos::View<std::byte*, Cuda::memory_space> workspace;
  Kokkos::View<std::uint16_t*, Cuda::memory_space> rounded[2];
};

/// The context of a stream, made at its first product and kept until Kokkos is finalised.
Context& context_of(Cuda const& exec) {
  static std::map<cudaStream_t, Context> contexts;
  auto const found = contexts.find(exec.cuda_stream());
  if (found != contexts.end()) return found->second;
  if (contexts.empty()) Kokkos::push_finalize_hook([] { contexts.clear(); });
  return contexts.try_emplace(exec.cuda_stream(), exec.cuda_stream()).first->second;
}

/// (rows, columns) of a matrix rounded to bf16, without gaps between rows.
std::uint16_t const* rounded(Cuda const& exec, Index rows, Index columns, float const* from, Index ld,
                             Kokkos::View<std::uint16_t*, Cuda::memory_space>& to) {
  auto const size = static_cast<std::size_t>(rows * columns);
  if (to.extent(0) < size)
    to = Kokkos::View<std::uint16_t*, Cuda::memory_space>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "bellwether::core::gemm_operand"), size);
  std::uint16_t* const out = to.data();
  Kokkos::parallel_for(
      "bellwether::core::gemm_operand", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<Index>>(exec, 0, rows * columns),
      KOKKOS_LAMBDA(Index at) { out[at] = to_bf16(from[at / columns * ld + at % columns]).bits; });
  return out;
}

}  // namespace

template <class T, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T const* a, Index lda, T const* b,
          Index ldb, T beta, T* c, Index ldc, ComputeType type) {
  if (m == 0 || n == 0) return;
  require(std::max({m, n, k, lda, ldb, ldc}) < blas_extent_limit, "matrix extent beyond BLAS's 32-bit integers");
  GemmRegion const region(m, n, k);
  if (k == 0) {  // C = beta C; an operand without columns has no leading dimension that cuBLAS would take
    team_gemm(exec, TeamOperands<T>{op_a, op_b, m, n, k, a, lda, b, ldb, type}, alpha, beta, c, ldc);
    return;
  }
  Context& context = context_of(exec);
  // Row-major C is column-major C transposed: op(B)^T op(A)^T.
  auto const product = [&](void const* left, Index left_ld, void const* right, Index right_ld,
                           cudaDataType_t operands) {
    bool const wide = std::is_same_v<T, double>;
    succeed(cublasGemmEx(context.handle, blas(op_b), blas(op_a), static_cast<int>(n), static_cast<int>(m),
                         static_cast<int>(k), &alpha, right, operands, static_cast<int>(right_ld), left, operands,
                         static_cast<int>(left_ld), &beta, c, wide ? CUDA_R_64F : CUDA_R_32F, static_cast<int>(ldc),
                         wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "cublasGemmEx");
  };
  if constexpr (std::is_same_v<T, float>) {
    if (type == ComputeType::bf16) {
      Index const a_rows = op_a == Op::none ? m : k, a_columns = op_a == Op::none ? k : m;
      Index const b_rows = op_b == Op::none ? k : n, b_columns = op_b == Op::none ? n : k;
      auto const* const left = rounded(exec, a_rows, a_columns, a, lda, context.rounded[0]);
      auto const* const right = rounded(exec, b_rows, b_columns, b, ldb, context.rounded[1]);
      product(left, a_columns, right, b_columns, CUDA_R_16BF);
      return;
    }
  }
  product(a, lda, b, ldb, std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F);
}

BELLWETHER_GEMM(Cuda)

}  // namespace bellwether
