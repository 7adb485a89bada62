// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/layers/dropout.hpp"
#include "tests/support/finite_differences.hpp"

namespace bellwether::test {

/// Row origins for dropout in these tests: rows of three samples, one of them with a number beyond 32 bits.
template <class Space>
struct Origins {
  explicit Origins(Index rows) {
    std::vector<std::int64_t> of_sample;
    std::vector<std::int32_t> of_position;
    for (Index r = 0; r < rows; ++r) {
      of_sample.push_back(r % 3 == 1 ? (std::int64_t{1} << 33) + r : r % 3);
      of_position.push_back(static_cast<std::int32_t>(r / 3));
    }
    samples = to_space<Space>(of_sample);
    positions = to_space<Space>(of_position);
  }
  model::RowOrigin get() const { return {samples.data(), positions.data()}; }
  Vec<std::int64_t, Space> samples;
  Vec<std::int32_t, Space> positions;
};

inline model::Dropout dropout_of(double probability, std::uint32_t site = 5) {
  return {random_key(11, Purpose::dropout), site, probability};
}

}  // namespace bellwether::test
