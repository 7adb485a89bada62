// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

#include <cstdint>

/// Checks every row of a shard when it is read. Values must be in range and consistent with each other, so that no
/// token and no prediction is lost.
namespace bellwether::input {

/// Checks that a row is tokens followed by padding of one id. Rows of this program begin with [CLS] and end with [SEP].
/// `first`: the number of the first row in its file. Fills `lengths`.
/// \throws InputError naming file, data set, row and column of the first value that is not allowed.
void check_tokens(ShardRows& rows, Hdf5File const& file, std::int64_t first, ShardFormat const& format,
                  ShardBounds const& bounds);

/// Checks predictions. The list ends at the first position 0: position 0 is [CLS], which is never masked. Requires
/// `lengths`; fills `predictions`.
/// \throws InputError as check_tokens() does.
void check_predictions(ShardRows& rows, Hdf5File const& file, std::int64_t first, ShardBounds const& bounds);

}  // namespace bellwether::input
