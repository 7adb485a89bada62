// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shards.hpp"

namespace bellwether::input {

/// Reads the attributes of a shard. If it lacks the attributes of this program, masks are static, and vocabulary and
/// special ids are unknown. `widths`: sequence_length and masked_length of the data sets, which the attributes must
/// match.
/// \throws InputError naming file and attribute that is missing or not allowed.
ShardFormat read_shard_format(Hdf5File const& file, ShardFormat const& widths);

}  // namespace bellwether::input
