// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/layers/linear.hpp"

namespace bellwether::model {

/// The parameters as passes read them, by offset into the arena (n).
template <class Real, class Stored>
struct Parameters {
  Real const* values;      ///< what is added, scaled with or looked up
  Stored const* matrices;  ///< what is multiplied, all elements
  Bias<Real, Stored> bias(Index offset) const { return {values + offset, matrices + offset}; }
};

}  // namespace bellwether::model
