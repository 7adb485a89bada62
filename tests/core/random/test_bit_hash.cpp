// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random/bit_hash.hpp"
#include "core/random/random.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <random>
#include <set>

using namespace bellwether;

namespace {

template <class Space>
std::vector<std::uint64_t> hashes(std::vector<float> const& values, std::vector<Index> const& ends) {
  Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const host(values.data(),
                                                                                                    values.size());
  auto const device = Kokkos::create_mirror_view_and_copy(typename Space::memory_space(), host);
  return bit_hashes(Space(), device.data(), ends);
}

float flipped(float value, int bit) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (std::uint32_t{1} << bit));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a hash is the sum over positions and bits of each part", "", test::Spaces) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(10'000);
  for (auto& value : values) value = normal(random);
  std::vector<Index> const ends{1, 4097, 4097, 9'990, 10'000};
  auto const found = hashes<TestType>(values, ends);
  REQUIRE(found.size() == ends.size());
  Index first = 0;
  for (std::size_t part = 0; part < ends.size(); ++part) {
    std::uint64_t sum = 0;
    for (Index k = first; k < ends[part]; ++k)
      sum += mix64(static_cast<std::uint64_t>(k - first) << 32 |
                   std::bit_cast<std::uint32_t>(values[static_cast<std::size_t>(k)]));
    CHECK(found[part] == sum);
    first = ends[part];
  }
}

TEMPLATE_LIST_TEST_CASE("a flipped bit, a swap and a sign of zero change only the hash of their part", "",
                        test::Spaces) {
  std::vector<float> const values{0.0f, 1.5f, -2.25f, 0.0f, 3.0f, 1e-40f};
  std::vector<Index> const ends{3, 6};
  auto const before = hashes<TestType>(values, ends);
  std::set<std::uint64_t> seen{before[0]};
  for (int bit = 0; bit < 32; ++bit) {
    auto changed = values;
    changed[0] = flipped(changed[0], bit);  // bit 31: from 0 to -0
    auto const after = hashes<TestType>(changed, ends);
    CHECK(seen.insert(after[0]).second);
    CHECK(after[1] == before[1]);
  }
  auto swapped = values;
  std::swap(swapped[4], swapped[5]);
  auto const after = hashes<TestType>(swapped, ends);
  CHECK(after[0] == before[0]);
  CHECK(after[1] != before[1]);
}
