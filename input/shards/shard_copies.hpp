// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Finds shards that hold the same rows under different names, including recompressed copies. Reads more than the first
/// rows only if those are equal.
namespace bellwether::input {

/// Properties of each shard that a set has opened.
struct OpenedShard {
  std::string path;
  std::int64_t rows = 0, sequence_length = 0;
  std::int64_t bytes = 0;    ///< of the file
  std::uint64_t labels = 0;  ///< checksum of the first next-sentence labels, which already differ between most shards
};

/// States that `copy` holds the rows of `original`, an earlier shard, in the same order. Both are indices in the
/// searched list.
struct ShardCopy {
  std::size_t original = 0, copy = 0;
};

/// Returns copies among the shards, at most `most` of them; each one requires reading two shards completely. A shard
/// without rows is not a copy. Call it on the I/O thread. \throws InputError if a suspect cannot be read.
std::vector<ShardCopy> find_copies(std::span<OpenedShard const> shards, std::size_t most = 3);

/// Returns one sentence for each shard of `heldout` whose rows are also in `train`. Neither set may contain copies
/// itself. Call it on the I/O thread. \throws InputError if a suspect cannot be read.
std::vector<std::string> trained_copies(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout);

}  // namespace bellwether::input
