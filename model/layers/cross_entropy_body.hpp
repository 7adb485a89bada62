// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/row_walk.hpp"

namespace bellwether::model {

/// The body of cross_entropy(), for for_each_row().
template <class Real, class Stored>
struct CrossEntropyRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Real* const x = logits + r * stride;
    Stored* const d = dlogits + r * stride;
    Real const* const added = bias;
    Real const largest = row.template largest<Real>(classes, [=](Index k) { return x[k] += added[k]; });
    row.sync();
    Real const own = x[labels[r]];
    row.sync();
    Real const total = row.template sum<Real>(classes, [=](Index k) { return x[k] = math::exp(x[k] - largest); });
    Real const factor = scale / total;
    row.sync();
    // Apart from the rest: a choice for each element costs more than one that is written twice.
    Real const at_label = x[labels[r]] * factor - scale;
    row.sync();
    row.each(classes, [=](Index k) { d[k] = Stored(x[k] * factor); });
    row.sync();
    row.once([&] {
      d[labels[r]] = Stored(at_label);
      loss[r] = static_cast<double>(Kokkos::log(total)) + static_cast<double>(largest) - static_cast<double>(own);
      correct[r] = own >= largest ? 1.0 : 0.0;
    });
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
