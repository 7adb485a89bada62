// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/layers/linear.hpp"

namespace bellwether::model {

/// The parameters that forward and backward read, by offset into the arena (n).
template <class Real, class Stored>
struct Parameters {
  Real const* values;      ///< operands of additions, scalings and lookups
  Stored const* matrices;  ///< operands of matrix products, all elements
  Bias<Real, Stored> bias(Index offset) const { return {values + offset, matrices + offset}; }
};

}  // namespace bellwether::model
