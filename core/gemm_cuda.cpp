// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() on NVIDIA GPUs, by cuBLAS.
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
/// recorded into a graph.
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
};

/// The context of a stream, made at its first product and kept until Kokkos is finalised.
Context& context_of(Cuda const& exec) {
  static std::map<cudaStream_t, Context> contexts;
  auto const found = contexts.find(exec.cuda_stream());
  if (found != contexts.end()) return found->second;
  if (contexts.empty()) Kokkos::push_finalize_hook([] { contexts.clear(); });
  return contexts.try_emplace(exec.cuda_stream(), exec.cuda_stream()).first->second;
}

template <class T>
constexpr cudaDataType_t data_type = std::is_same_v<T, double>  ? CUDA_R_64F
                                     : std::is_same_v<T, float> ? CUDA_R_32F
                                                                : CUDA_R_16BF;

}  // namespace

template <class A, class B, class C, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, SumOf<C> alpha, A const* a, Index lda,
          B const* b, Index ldb, SumOf<C> beta, C* c, Index ldc) {
  if (m == 0 || n == 0) return;
  require(std::max({m, n, k, lda, ldb, ldc}) < blas_extent_limit, "matrix extent beyond BLAS's 32-bit integers");
  GemmRegion const region(op_a, op_b, m, n, k);
  if (k == 0) {  // C = beta C; an operand without columns has no leading dimension that cuBLAS would take
    team_gemm(exec, TeamOperands<A, B>{op_a, op_b, m, n, k, a, lda, b, ldb}, alpha, beta, c, ldc);
    return;
  }
  // Row-major C is column-major C transposed: op(B)^T op(A)^T.
  succeed(cublasGemmEx(context_of(exec).handle, blas(op_b), blas(op_a), static_cast<int>(n), static_cast<int>(m),
                       static_cast<int>(k), &alpha, b, data_type<B>, static_cast<int>(ldb), a, data_type<A>,
                       static_cast<int>(lda), &beta, c, data_type<C>, static_cast<int>(ldc),
                       std::is_same_v<C, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
}

BELLWETHER_GEMM(Cuda)

}  // namespace bellwether
