// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shard_copies.hpp"

#include <span>
#include <string>

namespace bellwether::input {

/// Held-out rows whose text is trained on, though in other rows: a part of a shard, or text that was prepared again
/// with another seed or split. One sentence where there are more than a few; empty else. Rows are compared by passages
/// of 12 tokens, as they were before masking and wherever they begin: another seed cuts and pairs sentences otherwise.
///
/// 512 held-out rows are looked at, and of the training set at most 200,000 rows in at most 256 shards, evenly over
/// them and one after another in each: the time is bounded, and text held out of a huge set may go unseen. Shards that
/// cannot be read are passed over, reading them says why. For the I/O thread.
std::string trained_passages(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout);

}  // namespace bellwether::input
