// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace bellwether::test {

/// The larger of `most` and |value|, for the worst of many differences. What is not a number stays, whatever comes
/// after it, so that no tolerance is met by it.
inline double larger(double most, double value) {
  double const magnitude = std::abs(value);
  return std::isnan(most) || magnitude <= most ? most : magnitude;
}

}  // namespace bellwether::test
