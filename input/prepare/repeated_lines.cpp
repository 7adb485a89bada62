// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/repeated_lines.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::input {

RepeatedLines::RepeatedLines(std::size_t most_kept) : most_kept_(most_kept), buckets_(std::size_t{1} << bucket_bits) {}

void RepeatedLines::add(LineDigest const& line) {
  auto const count = [&](Bucket& sum) {
    ++sum.lines;
    sum.bytes += line.bytes;
  };
  count(all_);
  count(buckets_[bucket_of(line.hash)]);
  if ((line.hash & mask_) != 0) return;
  auto const [copies, added] = kept_.try_emplace(line.hash, Copies{.sum = {}, .first = line.place});
  count(copies->second.sum);
  // The final mask is the first one that leaves few enough different lines, whatever their order.
  while (kept_.size() > most_kept_) {
    mask_ = 2 * mask_ + 1;
    std::erase_if(kept_, [&](auto const& entry) { return (entry.first & mask_) != 0; });
  }
}

/// Returns the lines of a bucket if lines were spread evenly.
double RepeatedLines::expected_lines() const {
  return static_cast<double>(all_.lines) / static_cast<double>(buckets_.size());
}

/// Returns true if a bucket holds far more lines than chance allows: a few lines in it occur very often.
bool RepeatedLines::is_heavy(Bucket const& bucket) const {
  constexpr double deviations = 6;
  double const expected = expected_lines();
  return static_cast<double>(bucket.lines) > expected + deviations * std::sqrt(expected) + static_cast<double>(few);
}

double RepeatedLines::share() const {
  if (all_.bytes == 0) return 0;
  bool const sampled = mask_ != 0;
  std::int64_t kept = 0;
  for (auto const& [hash, copies] : kept_)
    if (copies.sum.lines > few && !(sampled && is_heavy(buckets_[bucket_of(hash)]))) kept += copies.sum.bytes;
  double bytes = static_cast<double>(kept);
  if (sampled) {
    bytes *= static_cast<double>(mask_) + 1;
    for (auto const& bucket : buckets_)
      if (is_heavy(bucket))
        bytes += static_cast<double>(bucket.bytes) * (1 - expected_lines() / static_cast<double>(bucket.lines));
  }
  return std::min(1.0, bytes / static_cast<double>(all_.bytes));
}

std::optional<TextPlace> RepeatedLines::most_at() const {
  std::optional<TextPlace> place;
  std::int64_t most = 0;
  std::uint64_t best = 0;
  for (auto const& [hash, copies] : kept_) {
    auto const bytes = copies.sum.bytes;
    // The order of the table says nothing about the text, so the hash decides between equals.
    if (copies.sum.lines <= few || bytes < most || (bytes == most && place && hash > best)) continue;
    most = bytes;
    best = hash;
    place = copies.first;
  }
  return place;
}

}  // namespace bellwether::input
