// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/simd/bf16.hpp"

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace bellwether;

TEST_CASE("every bf16 survives conversion to float and back") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    float const value = bf16::from_bits(static_cast<std::uint16_t>(bits));
    bf16 const back(value);
    // A signalling NaN becomes quiet; every other value is unchanged.
    wrong +=
        std::isnan(value) ? !std::isnan(float(back)) || (back.bits & 0xffbfu) != (bits & 0xffbfu) : back.bits != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("bf16 rounds to nearest, ties to even") {
  auto const rounded = [](std::uint32_t bits) { return bf16(std::bit_cast<float>(bits)).bits; };
  CHECK(rounded(0x3f807fffu) == 0x3f80u);
  CHECK(rounded(0x3f808000u) == 0x3f80u);
  CHECK(rounded(0x3f808001u) == 0x3f81u);
  CHECK(rounded(0x3f818000u) == 0x3f82u);
  CHECK(rounded(0xbf818000u) == 0xbf82u);
  CHECK(rounded(0x7f7fffffu) == 0x7f80u);  // rounds to infinity
  CHECK(rounded(0x00000001u) == 0x0000u);
  CHECK(rounded(0x7f800001u) == 0x7fc0u);  // a NaN whose upper half looks infinite stays a NaN
  CHECK(rounded(0xffffffffu) == 0xffffu);
  CHECK(bf16(-0.0f).bits == 0x8000u);
}
