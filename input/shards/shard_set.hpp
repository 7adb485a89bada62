// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/batch_stream.hpp"
#include "input/shards/load_balancing.hpp"
#include "input/shards/shards.hpp"
#include "input/shards/shuffle.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// Shards that fit together: one sequence length, one kind of masks. Create and use it on the I/O thread.
class ShardSet {
 public:
  /// \throws InputError with every fault of every shard.
  ShardSet(std::vector<std::string> const& paths, DataConfig const& config, StreamGeometry const& geometry);

  ShardSetInfo const& info() const { return info_; }
  std::vector<ShardExtent> const& extents() const { return extents_; }
  std::int64_t window_rows() const { return window_rows_; }
  LoadBalancer const& balancer() const { return balancer_; }
  /// Reads and range-checks rows. Fills `predictions` also if masks are drawn.
  ShardRows read(Piece const& piece) const;

 private:
  std::vector<ShardExtent> extents_;
  std::vector<ShardFormat> formats_;
  std::int64_t window_rows_;
  ShardSetInfo info_;
  ShardBounds bounds_;
  LoadBalancer balancer_;
};

}  // namespace bellwether::input
