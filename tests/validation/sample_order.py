# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes the order in which a run visits the rows of its shards, from docs/developer/formats.md and core/random/random.hpp."""
import numpy as np

ORDER, WINDOW = 2, 3  # purposes of random streams
WORD = np.uint64(0xFFFFFFFF)


def philox(counter, key):
    """Applies Philox4x32-10 to counters (4, n) with one key (2). Returns (4, n); all arrays are uint64."""
    c, (k0, k1) = [row.astype(np.uint64) for row in counter], (int(key[0]), int(key[1]))
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & WORD,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & WORD]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c)


def random_key(seed, purpose):
    mask = (1 << 64) - 1
    z = (seed + 0x9E3779B97F4A7C15 * (purpose + 1)) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return z & 0xFFFFFFFF, z >> 32


class Stream:
    """A sequence of 32-bit random numbers."""

    def __init__(self, seed, purpose, first, second=0):
        self.key, self.first, self.second = random_key(seed, purpose), first, second
        self.block, self.blocks, self.used = np.empty(0, np.uint64), 0, 0

    def bits(self):
        if self.used == len(self.block):
            count = np.arange(self.blocks, self.blocks + 1024, dtype=np.uint64)
            same = [np.full(1024, v, np.uint64) for v in (self.first & 0xFFFFFFFF, self.first >> 32, self.second)]
            self.block, self.used = philox([*same, count], self.key).T.reshape(-1).tolist(), 0
            self.blocks += 1024
        self.used += 1
        return self.block[self.used - 1]

    def below(self, bound):
        product = self.bits() * bound
        if product & 0xFFFFFFFF < bound:
            threshold = (1 << 32) % bound
            while product & 0xFFFFFFFF < threshold:
                product = self.bits() * bound
        return product >> 32


def shuffled(values, stream):
    values = list(values)
    for i in range(len(values), 1, -1):
        j = stream.below(i)
        values[i - 1], values[j] = values[j], values[i - 1]
    return values


def sample_order(seed, epoch, shard_rows, piece, window):
    """Yields (shard, row) for all samples of an epoch; `piece`: rows read at a time, whole chunks."""
    pieces = [(shard, first, min(piece, rows - first))
              for shard, rows in enumerate(shard_rows) for first in range(0, rows, piece)]
    start, places = 0, []
    for at, (shard, first, count) in enumerate(order := shuffled(pieces, Stream(seed, ORDER, epoch))):
        places += [(shard, first + row) for row in range(count)]
        if len(places) >= window or at + 1 == len(order):
            yield from shuffled(places, Stream(seed, WINDOW, epoch << 40 | start))
            start, places = start + len(places), []
