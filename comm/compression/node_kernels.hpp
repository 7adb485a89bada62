// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean_kernels.hpp"
#include "comm/compression/signs.hpp"
#include "core/device/launch.hpp"

#include <cstdint>
#include <string>

namespace bellwether::comm {
namespace detail {

template <class T, class Form>
struct FormValues {
  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    if (skip == nullptr || *skip == 0) values[k] = T(form(k));
  }
  std::int32_t const* skip;
  T* values;
  Form form;
};

}  // namespace detail

/// values[k] = T(form(k)) for k < count, unless *skip is not 0. T: the wire type.
template <class T, class Space, class Form>
void form_values(Space const& exec, Index count, std::int32_t const* skip, T* values, Form const& form) {
  launch<"bellwether::comm::form_values">(Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, count),
                                          detail::FormValues<T, Form>{skip, values, form});
}

/// Form for the inter-node exchange: returns the mean over the ranks of a node. chunks: (ranks, count).
template <class T>
struct NodeMeanForm {
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const { return rank_order_mean(chunks, count, ranks, k); }
  T const* chunks;
  Index count;
  int ranks;
};

}  // namespace bellwether::comm
