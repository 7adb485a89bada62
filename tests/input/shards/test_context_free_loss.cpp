// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random/random.hpp"
#include "input/shards/context_free_loss.hpp"
#include "input/shards/masking.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

using namespace bellwether::input;
using Catch::Approx;

namespace {

using Counts = std::vector<std::int64_t>;

/// Returns the entropy of two outcomes, one of probability p.
double entropy(double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); }

/// Returns the probability that masking shows `shown` for `token`, for a vocabulary of `tokens`.
double chance(std::size_t shown, std::size_t token, std::size_t mask, std::size_t tokens) {
  return (shown == mask ? 0.8 : 0) + (shown == token ? 0.1 : 0) + 0.1 / static_cast<double>(tokens);
}

/// Returns context_free_loss() as its definition says: a sum over all pairs of a true token and a shown one.
double by_definition(Counts const& seen, Counts const& known, std::size_t mask) {
  double seen_total = 0, known_total = 0, loss = 0;
  for (auto const count : seen) seen_total += static_cast<double>(count);
  for (auto const count : known) known_total += static_cast<double>(count + 1);
  auto const share = [&](std::size_t token) { return static_cast<double>(known[token] + 1) / known_total; };
  for (std::size_t y = 0; y < known.size(); ++y) {
    double shown = 0;
    for (std::size_t x = 0; x < known.size(); ++x) shown += share(x) * chance(y, x, mask, known.size());
    for (std::size_t x = 0; x < known.size(); ++x) {
      double const joint = static_cast<double>(seen[x]) / seen_total * chance(y, x, mask, known.size());
      loss -= joint * std::log(share(x) * chance(y, x, mask, known.size()) / shown);
    }
  }
  return loss;
}

}  // namespace

TEST_CASE("the loss of word frequencies is their entropy, and higher on another text", "[masking]") {
  CHECK(frequency_loss({0, 0}, {3, 4}) == 0);
  CHECK(frequency_loss({500000, 500000}, {500000, 500000}) == Catch::Approx(std::log(2)).epsilon(1e-5));
  CHECK(frequency_loss({1, 3}, {0, 2}) == Catch::Approx((std::log(4.0) + 3 * std::log(4.0 / 3)) / 4));
  CHECK(frequency_loss({10, 90}, {90, 10}) > frequency_loss({90, 10}, {90, 10}));
}

TEST_CASE("the context-free loss of two words is that of a calculation by hand", "[masking]") {
  // [MASK] and two words: each token is drawn as a random one with probability 1/30. Counts are so large that raising
  // them by one changes nothing.
  std::int64_t constexpr many = 400000000000;
  // Equal words. A shown word is the true one with probability (1/20 + 1/60) / (1/12) = 4/5.
  Counts const equal{0, many, many};
  CHECK(context_free_loss(equal, equal, 0) == Approx(5. / 6 * std::log(2) + 1. / 6 * entropy(0.2)).epsilon(1e-9));
  // Shares of 3/4 and 1/4. The first word is shown with probability 13/120 and is then true in 12 of 13 cases; the
  // second one with 7/120, true in 4 of 7.
  Counts const uneven{3 * many, many, 0};
  CHECK(context_free_loss(uneven, uneven, 2) ==
        Approx(5. / 6 * entropy(0.25) + 13. / 120 * entropy(1. / 13) + 7. / 120 * entropy(4. / 7)).epsilon(1e-9));
  // One word: nothing is left to predict.
  Counts const one{0, many};
  CHECK(context_free_loss(one, one, 0) == Approx(0).margin(1e-9));
}

TEST_CASE("the context-free loss is the cross entropy of a prediction by Bayes' rule", "[masking]") {
  CHECK(context_free_loss({0, 0, 0}, {3, 4, 5}, 2) == 0);
  Counts const text{0, 3, 0, 900, 41, 7, 0, 160}, other{0, 0, 0, 20, 700, 50, 30, 0};
  CHECK(context_free_loss(text, text, 2) == Approx(by_definition(text, text, 2)));
  CHECK(context_free_loss(other, text, 2) == Approx(by_definition(other, text, 2)));
  CHECK(context_free_loss(text, text, 4) == Approx(by_definition(text, text, 4)));  // a text with [MASK]
  CHECK(context_free_loss(text, text, 2) < frequency_loss(text, text));
  CHECK(context_free_loss(other, text, 2) > context_free_loss(text, text, 2));
}

TEST_CASE("the context-free loss agrees with masks that are drawn", "[masking]") {
  MaskingRule const rule{
      .probability = 1, .maximum = 64, .vocabulary = 7, .special = {.classify = 0, .separate = 1, .mask = 2}};
  std::vector<double> drawn(7 * 7);
  Counts counts(7);
  bellwether::RandomStream random(3, bellwether::Purpose::order, 0);
  for (int sample = 0; sample < 8000; ++sample) {
    std::vector<std::int32_t> ids(64);
    for (auto& id : ids) id = std::max<std::int32_t>(3, static_cast<std::int32_t>(random.below(7)));  // 3 is frequent
    for (auto const id : ids) ++counts[static_cast<std::size_t>(id)];
    auto const masks = draw_masks(rule, 5, sample, ids);
    REQUIRE(masks.positions.size() == 64);
    for (std::size_t i = 0; i < 64; ++i) drawn[static_cast<std::size_t>(masks.ids[i] * 7 + ids[i])] += 1. / 512000;
  }
  double conditional = 0;  // entropy of the true token, given the shown one
  for (std::size_t y = 0; y < 7; ++y) {
    double shown = 0;
    for (std::size_t x = 0; x < 7; ++x) shown += drawn[x * 7 + y];
    for (std::size_t x = 0; x < 7; ++x)
      if (drawn[x * 7 + y] > 0) conditional -= drawn[x * 7 + y] * std::log(drawn[x * 7 + y] / shown);
  }
  CHECK(context_free_loss(counts, counts, 2) == Approx(conditional).margin(0.005));
  CHECK(frequency_loss(counts, counts) > conditional + 0.05);
}
