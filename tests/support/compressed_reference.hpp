// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"

#include <cstddef>
#include <vector>

namespace bellwether::test {

/// Reference for the compressed mean of all ranks, computed element by element. It follows the specification
/// (docs/developer/onebit_methods.md, sections 3 and 8), not the kernels. Real: float, rounding in the product's order,
/// or double.
template <class Real>
class ReferenceCompression {
 public:
  ReferenceCompression(std::size_t count, std::size_t ranks, comm::Scale scale, std::size_t groups = 1);

  /// Returns the mean (n). inputs: (P, n).
  std::vector<Real> mean(std::vector<std::vector<Real>> const& inputs);
  void set_active(std::vector<bool> const& active);  ///< (n); residuals of masked elements become 0

  std::size_t chunk_first(std::size_t chunk) const;  ///< at most n
  double worker_error_squared_norm(std::size_t rank) const;
  double server_error_squared_norm(std::size_t chunk) const;

  std::vector<bool> active;                      ///< (n)
  std::vector<std::vector<Real>> worker_error;   ///< (P, n)
  std::vector<Real> server_error;                ///< (n)
  std::vector<std::vector<bool>> worker_signs;   ///< (P, n) of the last mean
  std::vector<std::vector<Real>> worker_scales;  ///< (P, G)
  std::vector<std::vector<Real>> server_scales;  ///< (P, parts of the chunk)

 private:
  /// Returns the scale of the active values in [first, last), replaces them by their residuals and sets `signs`.
  Real compress(std::vector<Real>& values, std::size_t first, std::size_t last, std::vector<bool>& signs) const;

  std::size_t count_, ranks_, chunk_, group_;
  comm::Scale scale_;
};

/// Returns words of active bits, with the first element in the most significant bit.
std::vector<unsigned> packed(std::vector<bool> const& active);

}  // namespace bellwether::test
