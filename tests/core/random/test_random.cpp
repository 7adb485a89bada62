// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random/philox_lanes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace bellwether;

namespace {

using Words = std::array<std::uint32_t, 4>;

Words philox_words(Words const& counter, std::array<std::uint32_t, 2> const& key) {
  auto const block = philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1]);
  return {block.x[0], block.x[1], block.x[2], block.x[3]};
}

}  // namespace

TEST_CASE("philox gives the published known answers") {
  // Known-answer vectors published with Random123 by the authors of Philox.
  std::uint32_t const ones = 0xffffffffu;
  CHECK(philox_words({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  CHECK(philox_words({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(philox_words({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
        Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

#if defined(BELLWETHER_PHILOX_LANES)
TEST_CASE("vectorised draws equal philox of each counter") {
  RandomStream stream(5, Purpose::dropout, 0);
  for (int trial = 0; trial < 200; ++trial) {
    std::array<std::uint32_t, 4> const at{stream.bits(), stream.bits(), stream.bits(), stream.bits()};
    RandomKey const key{stream.bits(), stream.bits()};
    constexpr int stride = lanes::counters + 3;
    std::array<std::uint32_t, 4 * stride> drawn{};
    auto const counter_of = [&](lanes::Halves const& lane) {
      return WideCounter<lanes::Halves>{
          {lanes::Halves{} + at[0], lanes::Halves{} + at[1], lanes::Halves{} + at[2], lane + at[3]}};
    };
    lanes::draw(lanes::RoundKeys(key), counter_of, drawn.data(), stride);
    for (int i = 0; i < lanes::counters; ++i) {
      auto const alone = philox(at[0], at[1], at[2], at[3] + static_cast<std::uint32_t>(i), key.k0, key.k1);
      for (int p = 0; p < 4; ++p) CHECK(drawn[static_cast<std::size_t>(i + p * stride)] == alone.x[p]);
    }
  }
}
#endif

TEST_CASE("uniform stays below one") {
  CHECK(uniform(0) == 0.0f);
  CHECK(uniform(0xffffffffu) < 1.0f);
  CHECK(uniform(0x80000000u) == 0.5f);
}

TEST_CASE("keys differ by seed and purpose") {
  std::set<std::pair<std::uint32_t, std::uint32_t>> keys;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    for (auto const purpose : {Purpose::initialisation, Purpose::order, Purpose::masking, Purpose::dropout}) {
      auto const key = random_key(seed, purpose);
      keys.insert({key.k0, key.k1});
    }
  CHECK(keys.size() == 4000);
}

TEST_CASE("a stream is reproducible, and streams differ") {
  RandomStream a(7, Purpose::order, 3, 1);
  RandomStream b(7, Purpose::order, 3, 1);
  RandomStream other(7, Purpose::order, 4, 1);
  int equal = 0;
  for (int k = 0; k < 1000; ++k) {
    auto const bits = a.bits();
    CHECK(bits == b.bits());
    equal += bits == other.bits();
  }
  CHECK(equal == 0);
}

TEST_CASE("below is uniform") {
  RandomStream stream(11, Purpose::masking, 0);
  for (std::uint32_t const bound : {1u, 2u, 3u, 7u, 10u, 1000u}) {
    int const draws = 200000;
    std::vector<int> hits(bound, 0);
    for (int k = 0; k < draws; ++k) {
      auto const value = stream.below(bound);
      REQUIRE(value < bound);
      ++hits[value];
    }
    // Chi-square with bound - 1 degrees of freedom: mean bound - 1, variance 2 (bound - 1); allow six sigma.
    double const expected = double(draws) / bound;
    double chi_square = 0;
    for (int const hit : hits) chi_square += (hit - expected) * (hit - expected) / expected;
    double const freedom = bound - 1.0;
    CHECK(chi_square <= freedom + 6 * std::sqrt(2 * freedom) + 1);
  }
}

TEST_CASE("below has no modulo bias at bounds that do not divide the range") {
  // With bound 3 * 2^30, a plain modulo would make the lowest third twice as likely as the others.
  RandomStream stream(13, Purpose::masking, 1);
  std::uint32_t const bound = 3u << 30;
  std::array<int, 3> hits{};
  int const draws = 300000;
  for (int k = 0; k < draws; ++k) ++hits[stream.below(bound) >> 30];
  for (int const hit : hits) CHECK(std::abs(hit - draws / 3) < 6 * std::sqrt(draws * 2.0 / 9));
  CHECK(stream.below(std::numeric_limits<std::uint32_t>::max()) < std::numeric_limits<std::uint32_t>::max());
}
