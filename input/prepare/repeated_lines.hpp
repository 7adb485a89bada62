// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/prepare/document_splitter.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace bellwether::input {

/// Estimates the share of a text in lines that occur often, such as headers, licences and menus of pages. Exact for few
/// different lines. Of many it counts those whose hashes end in zeros, so memory is bounded. A table of counts by the
/// hash's first bits finds the few lines that make up much of the text, which a sample could miss. The result depends
/// neither on the order of the lines nor on threads.
class RepeatedLines {
 public:
  static constexpr std::int64_t few = 10;  ///< a line that occurs more often counts as repeated

  /// \param most_kept different lines that are counted one by one.
  explicit RepeatedLines(std::size_t most_kept = std::size_t{1} << 18);

  void add(LineDigest const& line);
  /// Returns the bytes of repeated lines over all bytes, 0 to 1; 0 without lines.
  double share() const;
  /// Returns where the repeated line with the most bytes was read first. Of a sample, it is one of the sample.
  std::optional<TextPlace> most_at() const;

 private:
  /// All lines whose hashes have the same first bits.
  struct Bucket {
    std::int64_t lines = 0, bytes = 0;
  };
  struct Copies {
    Bucket sum;
    TextPlace first;
  };
  static constexpr int bucket_bits = 16;

  static std::size_t bucket_of(std::uint64_t hash) { return hash >> (64 - bucket_bits); }
  double expected_lines() const;
  bool is_heavy(Bucket const& bucket) const;

  std::size_t most_kept_;
  std::uint64_t mask_ = 0;  ///< lines whose hash has any of these bits set are not in kept_
  std::unordered_map<std::uint64_t, Copies> kept_;
  std::vector<Bucket> buckets_;
  Bucket all_;
};

}  // namespace bellwether::input
