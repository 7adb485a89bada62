// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/cross_entropy.hpp"

#include "model/layers/cross_entropy_body.hpp"

namespace bellwether::model {

template <class Real, class Stored, class Space>
void cross_entropy(Space const& exec, Index rows, Index classes, Index stride, Real const* bias,
                   std::int32_t const* labels, Real scale, Real* logits, Stored* dlogits, double* loss,
                   double* correct) {
  for_each_row("bellwether::model::cross_entropy", exec, rows, classes,
               CrossEntropyRow<Real, Stored>{classes, stride, bias, labels, scale, logits, dlogits, loss, correct});
}

template <class Space>
void add_in_order(Space const& exec, Index count, double const* values, double* total) {
  Kokkos::parallel_for(
      "bellwether::model::add_in_order", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, 1),
      KOKKOS_LAMBDA(Index) {
        double sum = *total;
        for (Index k = 0; k < count; ++k) sum += values[k];
        *total = sum;
      });
}

#define BELLWETHER_CROSS_ENTROPY_OF(SPACE, REAL, STORED)                                                        \
  template void cross_entropy(SPACE const&, Index, Index, Index, REAL const*, std::int32_t const*, REAL, REAL*, \
                              STORED*, double*, double*);
#define BELLWETHER_CROSS_ENTROPY(SPACE)              \
  BELLWETHER_CROSS_ENTROPY_OF(SPACE, float, float)   \
  BELLWETHER_CROSS_ENTROPY_OF(SPACE, double, double) \
  BELLWETHER_CROSS_ENTROPY_OF(SPACE, float, bf16)    \
  template void add_in_order(SPACE const&, Index, double const*, double*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_CROSS_ENTROPY)

}  // namespace bellwether::model
