// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/compression_shares.hpp"

namespace bellwether::optim {
namespace {

// One rank compresses nothing.
Index sums_of(comm::Communicator const& data, BlockTable<Exec> const& blocks) {
  return data.size() > 1 ? comm::tensor_error_sums * blocks.count() : 0;
}
Index numbers_of(comm::Communicator const& data, BlockTable<Exec> const& blocks) {
  return data.size() > 1 ? comm::tensor_error_numbers * blocks.tensors() : 0;
}

void write_shares(Exec const& exec, Index tensors, float const* mean, Verdict const* verdict, float* values) {
  static std::string const label = "bellwether::optim::compression_shares";
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (verdict->skip) return;
        constexpr float unknown = Kokkos::Experimental::quiet_NaN_v<float>;
        bool const known = mean != nullptr;
        values[l] = known ? mean[l] : unknown;
        values[tensors + l] =
            known && mean[3 * tensors + l] > 0 ? mean[2 * tensors + l] / mean[3 * tensors + l] : unknown;
        values[2 * tensors + l] = known ? mean[tensors + l] : unknown;
      });
}

}  // namespace

std::vector<std::string_view> const& CompressionShares::names() {
  static std::vector<std::string_view> const list{"worker_error_share", "server_error_share", "sign_agreement"};
  return list;
}

CompressionShares::CompressionShares(comm::Communicator& data, BlockTable<Exec> const& blocks)
    : data_(data),
      mean_(data, numbers_of(data, blocks), comm::Wire::fp32, comm::Allreduce::ordered),
      partial_("bellwether::optim::tensor_error_sums", static_cast<std::size_t>(sums_of(data, blocks))),
      numbers_("bellwether::optim::tensor_errors", static_cast<std::size_t>(numbers_of(data, blocks))) {}

void CompressionShares::measure(Exec const& exec, BlockTable<Exec> const& blocks, Index count,
                                comm::LastMean const& mean, bool wanted, Vec<Verdict> const& verdict, float* values) {
  float const* means = nullptr;
  if (wanted && data_.size() > 1) {
    comm::tensor_errors(exec, blocks, count, mean, partial_, numbers_);
    mean_.start(exec, numbers_);
    mean_.wait(exec);
    means = numbers_.data();
  }
  write_shares(exec, blocks.tensors(), means, verdict.data(), values);
}

std::int64_t CompressionShares::bytes() const {
  return mean_.buffer_bytes() +
         static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + numbers_.extent(0) * sizeof(float));
}

std::int64_t CompressionShares::predicted_bytes(comm::Communicator& data, BlockTable<Exec> const& blocks) {
  comm::DenseMean const mean(data, numbers_of(data, blocks), comm::Wire::fp32, comm::Allreduce::ordered);
  return mean.buffer_bytes() + static_cast<std::int64_t>(sizeof(double)) * sums_of(data, blocks) +
         static_cast<std::int64_t>(sizeof(float)) * numbers_of(data, blocks);
}

}  // namespace bellwether::optim
