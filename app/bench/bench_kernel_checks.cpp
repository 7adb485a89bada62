// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_kernel_checks.hpp"

#include "comm/compression/signs.hpp"
#include "core/device/launch.hpp"
#include "core/random/random.hpp"

namespace bellwether::app {
namespace {

template <class Space>
Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> items(Space const& exec, Index count) {
  return {exec, 0, count};
}

KOKKOS_INLINE_FUNCTION float message_scale(int rank) { return 0.1f * static_cast<float>(rank + 1); }

/// Returns the sign of element k; the most significant bit of a word is its first element. Independent of the product's
/// function, which it checks.
KOKKOS_INLINE_FUNCTION bool sign_at(std::uint32_t const* words, Index k) {
  return (words[k / 32] >> (31 - k % 32) & 1u) != 0;
}

/// Counts the elements for which is_wrong(k), a device function, is true.
template <class Space, class Wrong>
Index wrong_elements(Space const& exec, Index count, Wrong const& is_wrong) {
  Index wrong = 0;
  Kokkos::parallel_reduce(
      "bellwether::app::bench_wrong", items(exec, count),
      KOKKOS_LAMBDA(Index k, Index & found) { found += is_wrong(k) ? 1 : 0; }, wrong);
  return wrong;
}

}  // namespace

template <class Space>
void fill_bench_values(Space const& exec, Index count, float* values) {
  launch<"bellwether::app::bench_fill">(
      items(exec, count), KOKKOS_LAMBDA(Index k) {
        float const drawn = uniform(static_cast<std::uint32_t>(mix64(static_cast<std::uint64_t>(k)))) - 0.5f;
        values[k] = k % 1021 == 7 ? -0.0f : drawn;
      });
}

template <class Space>
void fill_bench_messages(Space const& exec, Index blocks, comm::WordBlock const* of, int ranks, Index stride,
                         std::uint32_t* messages) {
  launch<"bellwether::app::bench_fill_messages">(
      items(exec, blocks), KOKKOS_LAMBDA(Index at) {
        comm::WordBlock const block = of[at];
        for (int rank = 0; rank < ranks; ++rank) {
          std::uint32_t* const message = messages + rank * stride;
          for (Index place = block.place; place < block.place + block.words; ++place)
            message[place] = static_cast<std::uint32_t>(mix64(static_cast<std::uint64_t>(place * ranks + rank)));
          message[block.scale_place] = Kokkos::bit_cast<std::uint32_t>(message_scale(rank));
        }
      });
}

template <class Space>
Index wrong_signs(Space const& exec, Index count, float magnitude, float const* before, float const* after) {
  return wrong_elements(
      exec, count, KOKKOS_LAMBDA(Index k) { return !(after[k] == (before[k] >= 0 ? magnitude : -magnitude)); });
}

template <class Space>
void add_bench_mean(Space const& exec, Index count, comm::Decoded const& mean, double* outputs) {
  comm::Decoded const decoded = mean;
  launch<"bellwether::app::bench_add_mean">(
      items(exec, count), KOKKOS_LAMBDA(Index k) { outputs[k] += static_cast<double>(decoded(k)); });
}

template <class Space>
Index lost_elements(Space const& exec, Index count, CodedCalls const& coded, double allowed) {
  CodedCalls const of = coded;
  return wrong_elements(
      exec, count, KOKKOS_LAMBDA(Index k) {
        double const wanted = of.calls * static_cast<double>(of.given[k]);
        return !(Kokkos::abs(of.outputs[k] + static_cast<double>(of.residual[k]) - wanted) <= allowed);
      });
}

template <class Space>
Index wrong_sums(Space const& exec, Index count, ServedWords const& served) {
  ServedWords const of = served;
  return wrong_elements(
      exec, count, KOKKOS_LAMBDA(Index k) {
        float sum = 0;
        for (int rank = 0; rank < of.ranks; ++rank) {
          float const term = sign_at(of.messages + rank * of.stride, k) ? message_scale(rank) : -message_scale(rank);
          sum = rank == 0 ? term : sum + term;
        }
        float const wanted = sum / static_cast<float>(of.ranks) + of.before[k];
        return !(of.after[k] == wanted) || sign_at(of.signs, k) != (wanted >= 0);
      });
}

template <class Space>
Index wrong_means(Space const& exec, Index count, int ranks, float const* chunks, float const* mean) {
  return wrong_elements(
      exec, count, KOKKOS_LAMBDA(Index k) {
        float sum = chunks[k];
        for (int rank = 1; rank < ranks; ++rank) sum += chunks[rank * count + k];
        return !(mean[k] == sum / static_cast<float>(ranks));
      });
}

template <class Space>
Index far_from_bf16(Space const& exec, Index count, float const* before, float const* after) {
  return wrong_elements(
      exec, count,
      KOKKOS_LAMBDA(Index k) { return !(Kokkos::abs(after[k] - before[k]) <= Kokkos::abs(before[k]) * 0x1p-8f); });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                                \
  template void fill_bench_values<Space>(Space const&, Index, float*);                                               \
  template void fill_bench_messages<Space>(Space const&, Index, comm::WordBlock const*, int, Index, std::uint32_t*); \
  template Index wrong_signs<Space>(Space const&, Index, float, float const*, float const*);                         \
  template void add_bench_mean<Space>(Space const&, Index, comm::Decoded const&, double*);                           \
  template Index lost_elements<Space>(Space const&, Index, CodedCalls const&, double);                               \
  template Index wrong_sums<Space>(Space const&, Index, ServedWords const&);                                         \
  template Index wrong_means<Space>(Space const&, Index, int, float const*, float const*);                           \
  template Index far_from_bf16<Space>(Space const&, Index, float const*, float const*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::app
