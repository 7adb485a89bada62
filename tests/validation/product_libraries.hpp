// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/index.hpp"
#include "core/simd/bf16.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bellwether::test {

/// C = op(A) op(B), row-major without gaps. op(A): (m, k); op(B): (k, n); C: (m, n).
struct ProductShape {
  Op op_a, op_b;
  Index m, n, k;

  Index lda() const { return op_a == Op::none ? k : m; }
  Index ldb() const { return op_b == Op::none ? n : k; }
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

template <class T>
struct ProductData {
  std::vector<T> a, b, c;
  std::vector<float> c_float;  ///< result of libraries that do not write bf16
};

/// A library that multiplies matrices of T. make: returns a call that forms one product, or an empty function if the
/// library does not support it. Shape and data must outlive the call.
template <class T>
struct ProductLibrary {
  std::string name;
  std::function<std::function<void()>(ProductShape const&, ProductData<T>&)> make;
};

/// Appends oneDNN with its own layout-preserving kernels. Does nothing in a build without oneDNN.
template <class T>
void add_onednn(std::vector<ProductLibrary<T>>& libraries);

}  // namespace bellwether::test
