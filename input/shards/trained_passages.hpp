// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/shard_copies.hpp"

#include <span>
#include <string>

namespace bellwether::input {

/// Finds held-out rows whose text is also in training rows: a part of a shard, or text that was prepared again with
/// another seed or split. Returns a warning if there are more than a few such rows, else an empty string.
///
/// Rows are compared by passages of 12 tokens, with masked tokens put back. A passage may begin anywhere, because
/// another seed cuts and pairs sentences in other places.
///
/// The search reads 512 held-out rows and at most 200,000 training rows from at most 256 shards, the first rows of
/// each. Its time is bounded, so that it may miss text in a larger set. It skips shards that cannot be read; training
/// reports them. Call it on the I/O thread.
std::string trained_passages(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout);

}  // namespace bellwether::input
