// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/masking.hpp"

#include "core/random/random.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::input {
namespace {

bool is_candidate(MaskingRule const& rule, std::int32_t id) {
  return id != rule.special.classify && id != rule.special.separate;
}

}  // namespace

std::int64_t prediction_count(MaskingRule const& rule, std::int64_t length, std::int64_t candidates) {
  // nearbyint() rounds halves to even in the default rounding mode, which the program never changes.
  auto const wanted = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(length) * rule.probability));
  return std::min({rule.maximum, std::max<std::int64_t>(1, wanted), candidates});
}

std::int64_t candidate_count(MaskingRule const& rule, std::span<std::int32_t const> token_ids) {
  return std::ranges::count_if(token_ids, [&](std::int32_t id) { return is_candidate(rule, id); });
}

Masks draw_masks(MaskingRule const& rule, std::uint64_t seed, std::int64_t sample, std::span<std::int32_t> token_ids) {
  RandomStream random(seed, Purpose::masking, static_cast<std::uint64_t>(sample));
  Masks masks;
  for (std::size_t s = 0; s < token_ids.size(); ++s)
    if (is_candidate(rule, token_ids[s])) masks.positions.push_back(static_cast<std::int32_t>(s));
  auto const count = static_cast<std::size_t>(prediction_count(rule, static_cast<std::int64_t>(token_ids.size()),
                                                               static_cast<std::int64_t>(masks.positions.size())));
  // Take the first `count` elements of a random permutation, then sort them.
  for (std::size_t i = 0; i < count; ++i) {
    auto const rest = static_cast<std::uint32_t>(masks.positions.size() - i);
    std::swap(masks.positions[i], masks.positions[i + random.below(rest)]);
  }
  masks.positions.resize(count);
  std::ranges::sort(masks.positions);
  for (auto const position : masks.positions) {
    auto& id = token_ids[static_cast<std::size_t>(position)];
    masks.ids.push_back(id);
    if (random.real() < hidden_share)
      id = static_cast<std::int32_t>(rule.special.mask);
    else if (random.real() >= kept_of_visible)
      id = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(rule.vocabulary)));
  }
  return masks;
}

}  // namespace bellwether::input
