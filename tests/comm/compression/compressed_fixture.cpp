// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/comm/compression/compressed_fixture.hpp"

#include <bit>
#include <cmath>
#include <span>

namespace bellwether::test {
namespace {

template <class Mean>
std::vector<float> decoded_mean(Mean& mean, Exec const& exec, std::vector<float> const& mine,
                                std::int32_t const* skip) {
  Vec<float> const vector = uploaded(mine);
  Vec<float> const result("bellwether::test::result", mine.size());
  comm::Decoded const decoded = mean.mean(
      exec, KOKKOS_LAMBDA(Index k) { return vector(k); }, skip);
  Kokkos::parallel_for(
      "bellwether::test::decode",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, static_cast<Index>(mine.size())),
      KOKKOS_LAMBDA(Index k) { result(k) = decoded(k); });
  exec.fence("bellwether::test::decoded");
  return downloaded(result);
}

}  // namespace

float random_input(int rank, Index k, std::uint64_t seed, double octaves) {
  RandomStream stream(seed, Purpose::sketch, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(rank));
  double const magnitude = std::exp2(-stream.real() * octaves);
  return static_cast<float>((stream.real() < 0.5 ? -1 : 1) * magnitude);
}

std::vector<float> random_vector(int rank, Index count, std::uint64_t seed, double octaves) {
  std::vector<float> values;
  for (Index k = 0; k < count; ++k) values.push_back(random_input(rank, k, seed, octaves));
  return values;
}

std::vector<std::vector<float>> random_inputs(int ranks, Index count, std::uint64_t seed, double octaves) {
  std::vector<std::vector<float>> inputs;
  for (int rank = 0; rank < ranks; ++rank) inputs.push_back(random_vector(rank, count, seed, octaves));
  return inputs;
}

std::vector<float> mean_of(comm::CompressedAllreduce& mean, Exec const& exec, std::vector<float> const& mine) {
  return decoded_mean(mean, exec, mine, nullptr);
}

std::vector<float> mean_of(comm::HierarchicalAllreduce& mean, Exec const& exec, std::vector<float> const& mine,
                           std::int32_t const* skip) {
  return decoded_mean(mean, exec, mine, skip);
}

std::int64_t differences(std::vector<float> const& a, std::vector<float> const& b) {
  if (a.size() != b.size()) return -1;
  std::int64_t count = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    count += std::bit_cast<std::uint32_t>(a[k]) != std::bit_cast<std::uint32_t>(b[k]);
  return count;
}

bool equal_on_all_ranks(comm::Communicator& group, std::vector<float> const& mine) {
  std::vector<float> of_first = mine;
  group.broadcast_host(std::as_writable_bytes(std::span(of_first)), 0, "bellwether::test::compare");
  std::vector<double> different(1, static_cast<double>(differences(of_first, mine)));
  group.sum_host(different, "bellwether::test::compare");
  return different[0] == 0;
}

}  // namespace bellwether::test
