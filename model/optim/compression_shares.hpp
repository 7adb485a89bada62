// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/mean.hpp"
#include "comm/tensor_errors.hpp"
#include "model/optim/gradient_verdict.hpp"

#include <string_view>
#include <vector>

namespace bellwether::optim {

/// How well one bit stands for a number, by tensor: the worker's share of error |e|^2 / |z|^2 (mean over ranks), the
/// server's |d|^2 / |y|^2 (each summed over the owners of its chunks), and the share of live elements whose sign at the
/// worker is that of the mean (mean over ranks). NaN without a live element, on one rank, and where not asked for.
class CompressionShares {
 public:
  static std::vector<std::string_view> const& names();

  CompressionShares(comm::Communicator& data, BlockTable<Exec> const& blocks);

  /// After an exchange; on all ranks alike. values: (names(), tensors), written; untouched where the verdict says skip.
  void measure(Exec const& exec, BlockTable<Exec> const& blocks, Index count, comm::LastMean const& mean, bool wanted,
               Vec<Verdict> const& verdict, float* values);
  std::int64_t bytes() const;
  /// bytes() of one that need not exist yet.
  static std::int64_t predicted_bytes(comm::Communicator& data, BlockTable<Exec> const& blocks);

 private:
  comm::Communicator& data_;
  comm::DenseMean mean_;
  Vec<double> partial_;  // (tensor_error_sums blocks)
  Vec<float> numbers_;   // (tensor_error_numbers tensors)
};

}  // namespace bellwether::optim
