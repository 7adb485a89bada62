// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

#include <cstdint>

/// What every row of a shard is held to when it is read: values in range, and values that agree with each other, so
/// that no token and no prediction is lost.
namespace bellwether::input {

/// A row is tokens, then padding of one id. Rows of our own begin with [CLS] and end with [SEP]. `first`: the number of
/// the first row in its file. Fills `lengths`.
/// \throws InputError naming file, data set, row and column of the first value that is not allowed.
void check_tokens(ShardRows& rows, Hdf5File const& file, std::int64_t first, ShardFormat const& format,
                  ShardBounds const& bounds);

/// The list of predictions ends at the first position 0: position 0 is [CLS], which is never masked. Fills
/// `predictions`; lengths are known.
/// \throws InputError as check_tokens() does.
void check_predictions(ShardRows& rows, Hdf5File const& file, std::int64_t first, ShardBounds const& bounds);

}  // namespace bellwether::input
