// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/context_free_loss.hpp"

#include "core/system/error.hpp"
#include "input/shards/masking.hpp"

#include <cmath>
#include <numeric>

namespace bellwether::input {
namespace {

double sum_of(std::vector<std::int64_t> const& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

double times_log(double value) { return value * std::log(value); }

}  // namespace

double frequency_loss(std::vector<std::int64_t> const& seen, std::vector<std::int64_t> const& known) {
  require(seen.size() == known.size(), "one count for each token of one vocabulary");
  double const total = sum_of(known) + static_cast<double>(known.size());
  double sum = 0, tokens = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == 0) continue;
    auto const count = static_cast<double>(seen[i]);
    sum += count * std::log(total / (static_cast<double>(known[i]) + 1));
    tokens += count;
  }
  return tokens > 0 ? sum / tokens : 0;
}

// With q and p the shares of tokens in `seen` and `known`, and w(x, y) the probability that masking shows y for x:
//   p(x | y) = p(x) w(x, y) / P(y)    with P(y) = sum over x of p(x) w(x, y), and Q(y) likewise from q
//   loss = -sum over x, y of q(x) w(x, y) log p(x | y)
//        = -sum q(x) log p(x) - sum q(x) w(x, y) log w(x, y) + sum Q(y) log P(y)
// The first sum is frequency_loss(). The second has few different terms, because w depends only on whether y is x and
// whether y is [MASK].
double context_free_loss(std::vector<std::int64_t> const& seen, std::vector<std::int64_t> const& known,
                         std::int64_t mask) {
  require(0 <= mask && mask < std::ssize(known), "the id of [MASK] is in the vocabulary");
  double loss = frequency_loss(seen, known);
  double const tokens = sum_of(seen);
  if (tokens == 0) return 0;
  auto const vocabulary = static_cast<double>(known.size());
  double const kept = (1 - hidden_share) * kept_of_visible;
  double const random = (1 - hidden_share - kept) / vocabulary;  // probability of each token
  double const known_total = sum_of(known) + vocabulary;         // counts are raised by one, as in frequency_loss()
  for (std::size_t id = 0; id < known.size(); ++id) {
    double const hidden = static_cast<std::int64_t>(id) == mask ? hidden_share : 0;
    auto const shown = [&](double share) { return hidden + kept * share + random; };
    double const q = static_cast<double>(seen[id]) / tokens;
    double const p = (static_cast<double>(known[id]) + 1) / known_total;
    loss += shown(q) * std::log(shown(p));
  }
  // The true token is [MASK] in a share q of the tokens, usually 0.
  double const q = static_cast<double>(seen[static_cast<std::size_t>(mask)]) / tokens;
  double const of_word =
      times_log(hidden_share + random) + times_log(kept + random) + (vocabulary - 2) * times_log(random);
  double const of_mask = times_log(hidden_share + kept + random) + (vocabulary - 1) * times_log(random);
  return loss - (1 - q) * of_word - q * of_mask;
}

}  // namespace bellwether::input
