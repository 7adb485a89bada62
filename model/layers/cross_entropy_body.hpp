// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/row_walk.hpp"

namespace bellwether::model {

/// The maximum of a set of numbers, and the sum of e^(x - maximum) over them.
template <class Real>
struct Exponentials {
  Real largest = -Kokkos::Experimental::infinity_v<Real>, total = 0;

  KOKKOS_INLINE_FUNCTION Exponentials& operator+=(Exponentials const& other) {
    if (other.largest > largest) {
      total = total * math::exp(largest - other.largest) + other.total;
      largest = other.largest;
    } else if (other.total > 0) {
      total += other.total * math::exp(other.largest - largest);
    }
    return *this;
  }
};

}  // namespace bellwether::model

template <class Real>
struct Kokkos::reduction_identity<bellwether::model::Exponentials<Real>> {
  KOKKOS_FORCEINLINE_FUNCTION static bellwether::model::Exponentials<Real> sum() { return {}; }
};

namespace bellwether::model {

/// The body of cross_entropy(), for for_each_row().
template <class Real, class Stored>
struct CrossEntropyRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    if constexpr (Row::shared)
      of_team(row, r, logits + r * stride, dlogits + r * stride);
    else
      of_thread(row, r, logits + r * stride, dlogits + r * stride);
  }

  /// For hosts: computes each exponential once.
  template <class Row>
  KOKKOS_INLINE_FUNCTION void of_thread(Row const& row, Index r, Real* x, Stored* d) const {
    Real const* const added = bias;
    Real const largest = row.template largest<Real>(classes, [=](Index k) { return x[k] += added[k]; });
    Real const own = x[labels[r]];
    Real const total = row.template sum<Real>(classes, [=](Index k) { return x[k] = math::exp(x[k] - largest); });
    Real const factor = scale / total;
    // The label is handled separately: a comparison for each element costs more than writing one element twice.
    Real const at_label = x[labels[r]] * factor - scale;
    row.each(classes, [=](Index k) { d[k] = Stored(x[k] * factor); });
    d[labels[r]] = Stored(at_label);
    report(r, own, largest, total);
  }

  /// For devices: reads the logits twice and writes the gradients once, because memory bandwidth is the bottleneck.
  template <class Row>
  KOKKOS_INLINE_FUNCTION void of_team(Row const& row, Index r, Real const* x, Stored* d) const {
    Real const* const added = bias;
    Index const label = labels[r];
    Real const own = x[label] + added[label];
    auto const all = row.template total<Exponentials<Real>>(classes, [=](Index k) {
      return Exponentials<Real>{x[k] + added[k], Real(1)};
    });
    Real const factor = scale / all.total, at_label = scale;
    row.sync();
    row.each(classes, [=, largest = all.largest](Index k) {
      Real const gradient = math::exp(x[k] + added[k] - largest) * factor;
      d[k] = Stored(k == label ? gradient - at_label : gradient);
    });
    row.once([&] { report(r, own, all.largest, all.total); });
  }

  KOKKOS_INLINE_FUNCTION void report(Index r, Real own, Real largest, Real total) const {
    loss[r] = static_cast<double>(Kokkos::log(total)) + static_cast<double>(largest) - static_cast<double>(own);
    correct[r] = own >= largest ? 1.0 : 0.0;
  }

  Index classes, stride;
  Real const* bias;
  std::int32_t const* labels;
  Real scale;
  Real* logits;
  Stored* dlogits;
  double *loss, *correct;
};

}  // namespace bellwether::model
