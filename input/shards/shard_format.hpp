// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

namespace bellwether::input {

/// What the attributes of a shard say. Without those of ours masks are static, and vocabulary and special ids are not
/// known. `widths`: sequence_length and masked_length as the data sets have them, which the attributes must not
/// contradict.
/// \throws InputError naming file and attribute that is missing or not allowed.
ShardFormat read_shard_format(Hdf5File const& file, ShardFormat const& widths);

}  // namespace bellwether::input
