// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Shards that hold the same rows under several names: copies, also ones that were compressed anew. Only suspicion
/// makes reading more than the first rows necessary.
namespace bellwether::input {

/// What a set remembers of each shard that it has opened.
struct OpenedShard {
  std::string path;
  std::int64_t rows = 0, sequence_length = 0;
  std::int64_t bytes = 0;    ///< of the file
  std::uint64_t labels = 0;  ///< checksum of the first next-sentence labels: most shards differ in them already
};

/// `copy` holds the rows of `original`, an earlier shard, in the same order. Both count in the list that was searched.
struct ShardCopy {
  std::size_t original = 0, copy = 0;
};

/// Copies among shards, at most `most` of them: each takes reading two shards to the end. A shard without rows is no
/// copy. For the I/O thread. \throws InputError where a suspect cannot be read.
std::vector<ShardCopy> find_copies(std::span<OpenedShard const> shards, std::size_t most = 3);

/// One sentence for each shard of `heldout` whose rows `train` has, too. Both sets are free of copies by themselves.
/// For the I/O thread. \throws InputError where a suspect cannot be read.
std::vector<std::string> trained_copies(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout);

}  // namespace bellwether::input
