// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/rows.hpp"

#include "core/math.hpp"

namespace bellwether::model {
namespace {

template <class Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;

}  // namespace

template <class Real, class Space>
void add_block_sums(Space const& exec, Index blocks, Index stride, Index first, Index count, Real const* partial,
                    Real* columns) {
  constexpr Index strip = 64;
  Kokkos::parallel_for(
      "bellwether::model::add_block_sums", Range<Space>(exec, 0, (count + strip - 1) / strip), KOKKOS_LAMBDA(Index s) {
        Index const begin = s * strip, width = Kokkos::min(strip, count - begin);
        Real sum[strip] = {};
        for (Index block = 0; block < blocks; ++block) {
          Real const* row = partial + block * stride + first + begin;
          BELLWETHER_SIMD
          for (Index k = 0; k < width; ++k) sum[k] += row[k];
        }
        for (Index k = 0; k < width; ++k) columns[begin + k] += sum[k];
      });
}

template <class Real, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Real* x) {
  Kokkos::parallel_for(
      "bellwether::model::add_bias", Range<Space>(exec, 0, rows), KOKKOS_LAMBDA(Index r) {
        Real* row = x + r * columns;
        BELLWETHER_SIMD
        for (Index k = 0; k < columns; ++k) row[k] += bias[k];
      });
}

template <class Real, class Space>
void add_column_sums(Space const& exec, Index rows, Index columns, Index stride, Real const* x, Real* partial,
                     Real* sums) {
  Kokkos::parallel_for(
      "bellwether::model::column_sums", Range<Space>(exec, 0, row_blocks(rows)), KOKKOS_LAMBDA(Index block) {
        Real* out = partial + block * columns;
        for (Index k = 0; k < columns; ++k) out[k] = 0;
        Index const end = Kokkos::min(rows, (block + 1) * row_block);
        for (Index r = block * row_block; r < end; ++r) {
          Real const* row = x + r * stride;
          BELLWETHER_SIMD
          for (Index k = 0; k < columns; ++k) out[k] += row[k];
        }
      });
  add_block_sums<Real>(exec, row_blocks(rows), columns, 0, columns, partial, sums);
}

template <class Real, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to) {
  Kokkos::parallel_for(
      "bellwether::model::gather_rows", Range<Space>(exec, 0, count), KOKKOS_LAMBDA(Index i) {
        Real const* source = from + index[i] * C;
        Real* target = to + i * C;
        BELLWETHER_SIMD
        for (Index k = 0; k < C; ++k) target[k] = source[k];
      });
}

template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to) {
  Kokkos::parallel_for(
      "bellwether::model::add_rows", Range<Space>(exec, 0, count), KOKKOS_LAMBDA(Index i) {
        Real const* source = from + i * C;
        Real* target = to + index[i] * C;
        BELLWETHER_SIMD
        for (Index k = 0; k < C; ++k) target[k] += source[k];
      });
}

#define BELLWETHER_ROWS_OF(SPACE, REAL)                                                           \
  template void add_block_sums(SPACE const&, Index, Index, Index, Index, REAL const*, REAL*);     \
  template void add_bias(SPACE const&, Index, Index, REAL const*, REAL*);                         \
  template void add_column_sums(SPACE const&, Index, Index, Index, REAL const*, REAL*, REAL*);    \
  template void gather_rows(SPACE const&, Index, Index, std::int32_t const*, REAL const*, REAL*); \
  template void add_rows(SPACE const&, Index, Index, std::int32_t const*, REAL const*, REAL*);
#define BELLWETHER_ROWS(SPACE)     \
  BELLWETHER_ROWS_OF(SPACE, float) \
  BELLWETHER_ROWS_OF(SPACE, double)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_ROWS)

}  // namespace bellwether::model
