// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

#include <string>

/// Row r of the shards that tests write. Length and ids follow from r, so that a reader can tell rows apart. Token 0 is
/// [CLS]; token r % (length - 2) + 1 and the last are [SEP]; the ids in between are at least 10.
bellwether::input::Sample sample_of(std::int64_t row, bellwether::input::ShardFormat const& format);

/// Small format: S = 16, 3 predictions, vocabulary 100, [CLS] 1, [SEP] 2, [MASK] 3.
bellwether::input::ShardFormat small_format(bool static_masks);

/// Writes rows [first, first + rows) as one shard.
void write_shard(std::string const& path, bellwether::input::ShardFormat const& format, std::int64_t first,
                 std::int64_t rows, std::int64_t chunk_rows = 8);
