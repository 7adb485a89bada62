// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/cross_entropy.hpp"

#include "core/math.hpp"

namespace bellwether::model {

template <class Real, class Space>
void cross_entropy(Space const& exec, Index rows, Index classes, Real const* bias, std::int32_t const* labels,
                   Real scale, Real* logits, double* loss, double* correct) {
  Kokkos::parallel_for(
      "bellwether::model::cross_entropy", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, rows),
      KOKKOS_LAMBDA(Index r) {
        Real* row = logits + r * classes;
        Index const label = labels[r];
        Real largest = row[0] + bias[0];
        BELLWETHER_SIMD_MAX(largest)
        for (Index k = 0; k < classes; ++k) {
          row[k] += bias[k];
          largest = row[k] > largest ? row[k] : largest;
        }
        Real const own = row[label];
        Real total = 0;
        BELLWETHER_SIMD_SUM(total)
        for (Index k = 0; k < classes; ++k) {
          row[k] = math::exp(row[k] - largest);
          total += row[k];
        }
        Real const factor = scale / total;
        BELLWETHER_SIMD
        for (Index k = 0; k < classes; ++k) row[k] *= factor;
        row[label] -= scale;
        loss[r] = static_cast<double>(Kokkos::log(total)) + static_cast<double>(largest) - static_cast<double>(own);
        correct[r] = own >= largest ? 1.0 : 0.0;
      });
}

template <class Space>
void add_in_order(Space const& exec, Index count, double const* values, double* total) {
  Kokkos::parallel_for(
      "bellwether::model::add_in_order", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, 1),
      KOKKOS_LAMBDA(Index) {
        for (Index k = 0; k < count; ++k) *total += values[k];
      });
}

#define BELLWETHER_CROSS_ENTROPY(SPACE)                                                                              \
  template void add_in_order(SPACE const&, Index, double const*, double*);                                           \
  template void cross_entropy(SPACE const&, Index, Index, float const*, std::int32_t const*, float, float*, double*, \
                              double*);                                                                              \
  template void cross_entropy(SPACE const&, Index, Index, double const*, std::int32_t const*, double, double*,       \
                              double*, double*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_CROSS_ENTROPY)

}  // namespace bellwether::model
