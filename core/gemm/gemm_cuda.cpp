// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() and gemm_with() on NVIDIA GPUs with cuBLAS and cuBLASLt.
#include "core/gemm/gemm.hpp"
#include "core/gemm/gemm_definition.hpp"
#include "core/gemm/gemm_epilogue.hpp"
#include "core/gemm/team_product.hpp"
#include "core/recently_used.hpp"
#include "core/system/error.hpp"

#include <cublasLt.h>
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

template <class T>
constexpr cudaDataType_t data_type = std::is_same_v<T, double>  ? CUDA_R_64F
                                     : std::is_same_v<T, float> ? CUDA_R_32F
                                                                : CUDA_R_16BF;
template <class T>
constexpr cublasComputeType_t compute_type = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

/// Returns the largest power of two up to 256 that divides an address, in the form that cuBLASLt expects.
std::uint32_t alignment_of(void const* at) {
  auto const address = reinterpret_cast<std::uintptr_t>(at) | 256;
  return static_cast<std::uint32_t>(address & (~address + 1));
}

/// Everything that the choice of an algorithm depends on.
struct Product {
  cudaDataType_t type;
  int epilogue;
  Op op_a, op_b;
  Index m, n, k, lda, ldb, ldc;
  std::uint32_t a, b, c, bias, pre;  ///< alignments
  bool operator==(Product const&) const = default;
};

struct Plan {
  bool found;
  cublasLtMatmulAlgo_t algorithm;
};

/// cuBLAS on one stream, with our workspace. With its own workspace, cuBLAS would allocate during steps and could not
/// be captured in a graph.
struct Context {
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // NVIDIA's recommendation for Hopper
  static constexpr std::size_t workspace_alignment = 256;                // a View only guarantees half of this

  explicit Context(cudaStream_t stream)
      : memory("bellwether::core::cublas_workspace", workspace_bytes + workspace_alignment) {
    auto const beyond = reinterpret_cast<std::uintptr_t>(memory.data()) % workspace_alignment;
    workspace = memory.data() + (workspace_alignment - beyond) % workspace_alignment;
    succeed(cublasCreate(&handle), "cublasCreate");
    succeed(cublasSetStream(handle, stream), "cublasSetStream");
    succeed(cublasSetWorkspace(handle, workspace, workspace_bytes), "cublasSetWorkspace");
    // Partial sums over k are added in the type of the sums, as with cuBLASLt below.
    succeed(cublasSetMathMode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION), "cublasSetMathMode");
  }
  ~Context() { cublasDestroy(handle); }
  Context(Context const&) = delete;
  Context& operator=(Context const&) = delete;

  /// A cuBLAS handle is also a cuBLASLt handle. Both use the workspace, one after the other on the stream.
  cublasLtHandle_t light() const { return reinterpret_cast<cublasLtHandle_t>(handle); }

  cublasHandle_t handle = nullptr;
  std::byte* workspace = nullptr;
  Kokkos::View<std::byte*, Cuda::memory_space> memory;
  /// A forward and backward pass of one shape has four products with an epilogue; micro-batches differ in their rows.
  RecentlyUsed<Product, Plan, 64> plans;
};

/// Returns the context of a stream. It is created at the first product and kept until Kokkos is finalised.
Context& context_of(Cuda const& exec) {
  static std::map<cudaStream_t, Context> contexts;
  auto const found = contexts.find(exec.cuda_stream());
  if (found != contexts.end()) return found->second;
  if (contexts.empty()) Kokkos::push_finalize_hook([] { contexts.clear(); });
  return contexts.try_emplace(exec.cuda_stream(), exec.cuda_stream()).first->second;
}

/// Returns the second matrix of a GELU epilogue, its input: cuBLASLt writes it (pre) or reads it (at).
template <class T>
void const* beside(Epilogue<T> const& epilogue) {
  return epilogue.pre != nullptr ? epilogue.pre : epilogue.at;
}

/// A product in the terms of cuBLASLt, with descriptors on the stack to avoid allocations. Row-major C is column-major
/// C^T = op(B)^T op(A)^T: columns here are rows there.
template <class T>
class Description {
 public:
  Description(Product const& p, Epilogue<T> const& epilogue) {
    succeed(cublasLtMatmulDescInit(&operation_, compute_type<T>, data_type<SumOf<T>>), "cublasLtMatmulDescInit");
    set(CUBLASLT_MATMUL_DESC_TRANSA, blas(p.op_b));
    set(CUBLASLT_MATMUL_DESC_TRANSB, blas(p.op_a));
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(p.epilogue));
    if (epilogue.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void const*>(epilogue.bias));
    if (void const* const pre = beside(epilogue); pre != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pre);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{p.n});
    }
    lay_out(left_, p.op_b == Op::none ? p.n : p.k, p.op_b == Op::none ? p.k : p.n, p.ldb);
    lay_out(right_, p.op_a == Op::none ? p.k : p.m, p.op_a == Op::none ? p.m : p.k, p.lda);
    lay_out(result_, p.n, p.m, p.ldc);
  }

  /// Returns the algorithm chosen by cuBLASLt's heuristic among those that add partial sums over k in the type of the
  /// sums. If none is found, for whatever reason, the caller falls back to other kernels.
  Plan plan(cublasLtHandle_t handle, Product const& p) {
    cublasLtMatmulPreferenceOpaque_t preference;
    succeed(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    auto const prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto const& value) {
      succeed(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{Context::workspace_bytes});
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.b);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.a);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.c);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.c);
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    auto const status = cublasLtMatmulAlgoGetHeuristic(handle, &operation_, &left_, &right_, &result_, &result_,
                                                       &preference, 1, &result, &found);
    return {status == CUBLAS_STATUS_SUCCESS && found > 0 && result.state == CUBLAS_STATUS_SUCCESS, result.algo};
  }

  void multiply(Context const& context, cudaStream_t stream, Plan const& plan, T const* a, T const* b, T* c) {
    SumOf<T> const one = 1, zero = 0;
    succeed(cublasLtMatmul(context.light(), &operation_, &one, b, &left_, a, &right_, &zero, c, &result_, c, &result_,
                           &plan.algorithm, context.workspace, Context::workspace_bytes, stream),
            "cublasLtMatmul");
  }

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t what, Value const& value) {
    succeed(cublasLtMatmulDescSetAttribute(&operation_, what, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }
  static void lay_out(cublasLtMatrixLayoutOpaque_t& layout, Index rows, Index columns, Index ld) {
    succeed(cublasLtMatrixLayoutInit(&layout, data_type<T>, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), ld),
            "cublasLtMatrixLayoutInit");
  }

  cublasLtMatmulDescOpaque_t operation_;
  cublasLtMatrixLayoutOpaque_t left_, right_, result_;
};

template <class T>
cublasLtEpilogue_t light_epilogue(typename Epilogue<T>::Kind kind) {
  using Kind = typename Epilogue<T>::Kind;
  return kind == Kind::bias        ? CUBLASLT_EPILOGUE_BIAS
         : kind == Kind::bias_gelu ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                                   : CUBLASLT_EPILOGUE_DGELU;
}

}  // namespace

template <class A, class B, class C, class Space>
void gemm(Space const& exec, GemmShape const& shape, ConstMatrix<A> const& a, ConstMatrix<B> const& b,
          Matrix<C> const& c, Scaling<SumOf<C>> const& scaling) {
  if (shape.m == 0 || shape.n == 0) return;
  require_blas_extents({shape.m, shape.n, shape.k, a.ld, b.ld, c.ld});
  GemmRegion const region(shape);
  // With k = 0, C = beta C, but cuBLAS accepts no leading dimension of such an operand. For bf16 C and beta != 0,
  // cuBLAS would round the product before adding it.
  if (shape.k == 0 || (std::is_same_v<C, bf16> && scaling.beta != 0)) {
    team_gemm(exec, team_operands(shape, a, b), scaling.alpha, scaling.beta, c.at, c.ld);
    return;
  }
  // Row-major C is column-major C^T = op(B)^T op(A)^T.
  succeed(cublasGemmEx(context_of(exec).handle, blas(shape.op_b), blas(shape.op_a), static_cast<int>(shape.n),
                       static_cast<int>(shape.m), static_cast<int>(shape.k), &scaling.alpha, b.at, data_type<B>,
                       static_cast<int>(b.ld), a.at, data_type<A>, static_cast<int>(a.ld), &scaling.beta, c.at,
                       data_type<C>, static_cast<int>(c.ld), compute_type<C>, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
}

template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, GemmShape const& shape, ConstMatrix<T> const& a,
               ConstMatrix<T> const& b, Matrix<T> const& c) {
  // cuBLASLt has no GELU in double precision, which is for tests.
  if constexpr (std::is_same_v<T, double>) return false;
  if (shape.m == 0 || shape.n == 0) return true;
  // cuBLASLt requires rows of the GELU input to be a multiple of this.
  constexpr Index whole = 8;
  if (shape.k == 0 || (beside(epilogue) != nullptr && shape.n % whole != 0)) return false;
  Product const product{data_type<T>,
                        light_epilogue<T>(epilogue.kind),
                        shape.op_a,
                        shape.op_b,
                        shape.m,
                        shape.n,
                        shape.k,
                        a.ld,
                        b.ld,
                        c.ld,
                        alignment_of(a.at),
                        alignment_of(b.at),
                        alignment_of(c.at),
                        alignment_of(epilogue.bias),
                        alignment_of(beside(epilogue))};
  Context& context = context_of(exec);
  Description<T> description(product, epilogue);
  Plan const plan = context.plans.get(product, [&] { return description.plan(context.light(), product); });
  if (!plan.found) return false;
  GemmRegion const region(shape);
  description.multiply(context, exec.cuda_stream(), plan, a.at, b.at, c.at);
  return true;
}

template <>
std::int64_t gemm_workspace_bytes(Cuda const&) {
  return static_cast<std::int64_t>(Context::workspace_bytes + Context::workspace_alignment);
}

BELLWETHER_GEMM(Cuda)
BELLWETHER_GEMM_WITH(Cuda)

}  // namespace bellwether
