// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/masking.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>

using namespace bellwether::input;

namespace {

constexpr std::int64_t vocabulary = 1000;
MaskingRule const rule{
    .probability = 0.15, .maximum = 20, .vocabulary = vocabulary, .special = {.classify = 1, .separate = 2, .mask = 3}};

/// [CLS] 62 tokens [SEP] 63 tokens [SEP]
std::vector<std::int32_t> sequence() {
  std::vector<std::int32_t> ids;
  for (std::int32_t s = 0; s < 128; ++s) ids.push_back(s == 0 ? 1 : s == 63 || s == 127 ? 2 : 500 + s);
  return ids;
}

}  // namespace

TEST_CASE("numbers of predictions round as in Python", "[masking]") {
  // round(0.15 * length) in Python 3: 1.5 -> 2, 4.5 -> 4, 7.5 -> 8, 10.5 -> 10 (halves to even)
  std::map<std::int64_t, std::int64_t> const expected{{1, 1}, {3, 1}, {10, 2}, {30, 4}, {50, 8}, {70, 10}, {128, 19}};
  for (auto const& [length, count] : expected) CHECK(prediction_count(rule, length, length) == count);
  CHECK(prediction_count(rule, 512, 512) == 20);  // the maximum
  CHECK(prediction_count(rule, 128, 5) == 5);     // never more than there are candidates
  CHECK(prediction_count(rule, 3, 0) == 0);
  CHECK(candidate_count(rule, sequence()) == 125);
}

TEST_CASE("masks depend only on seed and sample", "[masking]") {
  auto a = sequence(), b = sequence(), c = sequence(), d = sequence();
  Masks const first = draw_masks(rule, 7, 123456789012, a);
  Masks const again = draw_masks(rule, 7, 123456789012, b);
  CHECK(a == b);
  CHECK(first.positions == again.positions);
  CHECK(first.ids == again.ids);
  draw_masks(rule, 8, 123456789012, c);
  draw_masks(rule, 7, 123456789013, d);
  CHECK(a != c);
  CHECK(a != d);
}

TEST_CASE("masks follow BERT's procedure", "[masking]") {
  auto const original = sequence();
  int constexpr samples = 20000;
  std::vector<int> chosen(original.size(), 0), random_ids(vocabulary, 0);
  double masked = 0, kept = 0, random = 0;
  for (int g = 0; g < samples; ++g) {
    auto ids = original;
    Masks const masks = draw_masks(rule, 1, g, ids);
    REQUIRE(masks.positions.size() == 19);
    REQUIRE(masks.ids.size() == 19);
    REQUIRE(std::ranges::adjacent_find(masks.positions, std::greater_equal<>{}) == masks.positions.end());
    auto restored = ids;
    for (std::size_t i = 0; i < masks.positions.size(); ++i) {
      auto const at = static_cast<std::size_t>(masks.positions[i]);
      ++chosen[at];
      if (ids[at] == 3) {
        ++masked;
      } else if (ids[at] == original[at]) {
        ++kept;
      } else {
        ++random;
        ++random_ids.at(static_cast<std::size_t>(ids[at]));
      }
      restored[at] = masks.ids[i];
    }
    REQUIRE(restored == original);  // no other token changed
  }
  double const all = masked + kept + random;
  // 380000 draws: the standard deviation is 0.0007 for the shares below.
  CHECK(masked / all == Catch::Approx(0.8).margin(0.004));
  CHECK(kept / all == Catch::Approx(0.1).margin(0.004));
  CHECK(random / all == Catch::Approx(0.1).margin(0.004));
  // All positions are equally likely, except [CLS] and [SEP]. Expected 3040 each, standard deviation 51.
  for (std::size_t s = 0; s < original.size(); ++s) {
    if (original[s] <= 2)
      CHECK(chosen[s] == 0);
    else
      CHECK(std::abs(chosen[s] - samples * 19 / 125) < 6 * 51);
  }
  // Random ids come from the whole vocabulary, including special tokens: about 38 each ([MASK] counts as masked).
  CHECK(random_ids[0] > 0);
  CHECK(random_ids[1] > 0);
  CHECK(*std::ranges::max_element(random_ids) < 38 + 6 * 7);
}
