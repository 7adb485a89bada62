// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/machine/timing.hpp"

#include "app/format/formatted.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/device/launch.hpp"
#include "core/gemm/gemm.hpp"
#include "core/random/bit_hash.hpp"
#include "core/random/random.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace bellwether::app {

Timing timing_of(std::vector<double> seconds) {
  require(!seconds.empty(), "nothing was timed");
  std::ranges::sort(seconds);
  auto const middle = seconds.size() / 2;
  double const median = seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {.median = median, .fastest = seconds.front(), .slowest = seconds.back()};
}

std::vector<double> largest_over_ranks(comm::RankGroup& group, std::vector<double> const& mine) {
  auto const ranks = static_cast<std::size_t>(group.size());
  std::vector<double> all(mine.size() * ranks, 0.0);
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * group.rank());
  group.sum_host(all, "bellwether::app::bench_numbers");
  std::vector<double> largest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(mine.size()));
  for (std::size_t i = mine.size(); i < all.size(); ++i)
    largest[i % mine.size()] = std::max(largest[i % mine.size()], all[i]);
  return largest;
}

bool equal_on_all_ranks(comm::RankGroup& group, std::uint64_t mine) {
  std::array<std::uint64_t, 1> first{mine};
  group.broadcast_host(std::as_writable_bytes(std::span(first)), 0, "bellwether::app::bench_checksum");
  return holds_everywhere(group, first[0] == mine);
}

bool holds_everywhere(comm::RankGroup& group, bool mine) {
  double broken = mine ? 0 : 1;
  group.sum_host({&broken, 1}, "bellwether::app::bench_check");
  return broken == 0;
}

namespace {

template <class T>
void fill_random(Exec const& exec, Mat<T> const& matrix) {
  T* const values = matrix.data();
  launch<"bellwether::app::gemm_operand">(
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, static_cast<Index>(matrix.size())),
      KOKKOS_LAMBDA(Index k) {
        values[k] = T(uniform(static_cast<std::uint32_t>(mix64(static_cast<std::uint64_t>(k)))) - 0.5f);
      });
}

template <class T>
double gemm_speed(comm::RankGroup& group) {
  constexpr Index side = gemm_speed_side(on_devices);
  constexpr int repeats = 12;
  Exec const exec;
  Mat<T> const a("bellwether::app::gemm_a", side, side), b("bellwether::app::gemm_b", side, side),
      c("bellwether::app::gemm_c", side, side);
  // Random operands: with constant ones, a GPU needs less power and is faster than in any training step.
  fill_random(exec, a);
  fill_random(exec, b);
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    group.barrier("bellwether::app::gemm_speed");
    auto const start = Clock::now();
    gemm(exec, {Op::none, Op::transpose, side, side, side}, ConstMatrix{a.data(), side}, ConstMatrix{b.data(), side},
         Matrix{c.data(), side});
    exec.fence("bellwether::app::gemm_speed measured");
    best = std::max(best, 2.0 * side * side * side / seconds_since(start));
  }
  group.sum_host({&best, 1}, "bellwether::app::gemm_speed");
  return best;
}

}  // namespace

double measured_gemm_speed(comm::RankGroup& group, ComputeType type) {
  return type == ComputeType::bf16 ? gemm_speed<bf16>(group) : gemm_speed<float>(group);
}

Fingerprint fingerprint_of(std::span<float const> of) {
  Exec const exec;
  float const* const values = of.data();
  Index infinite = 0;
  Kokkos::parallel_reduce(
      "bellwether::app::bench_infinite", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, std::ssize(of)),
      KOKKOS_LAMBDA(Index k, Index & bad) { bad += Kokkos::isfinite(values[k]) ? 0 : 1; }, infinite);
  return {.sum = bit_hash(exec, values, std::ssize(of)), .finite = infinite == 0};
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return formatted("%.3f s", seconds);
  if (seconds >= 1e-3) return formatted("%.2f ms", seconds * 1e3);
  return formatted("%.1f us", seconds * 1e6);
}

std::string speed_text(double bytes_per_second) { return formatted("%.3g GB/s", bytes_per_second * 1e-9); }

}  // namespace bellwether::app
