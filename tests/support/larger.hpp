// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace bellwether::test {

/// Returns the larger of `most` and |value|, to find the worst of many differences. NaN persists, so that it exceeds
/// every tolerance.
inline double larger(double most, double value) {
  double const magnitude = std::abs(value);
  return std::isnan(most) || magnitude <= most ? most : magnitude;
}

}  // namespace bellwether::test
