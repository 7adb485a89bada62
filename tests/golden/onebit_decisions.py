# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes what 1-bit optimizers derive from few numbers: the estimated gradient norm, the freeze, the noise scale.

Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 4.3.
"""

import numpy as np

SKETCH = 7  # core/random/random.hpp, Purpose::sketch
MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def philox(counter, key):
    """Returns four 32-bit words for a counter of four words and a key of two, all as integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK32, (p0 >> 32) ^ c3 ^ k1, p0 & MASK32
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return c0, c1, c2, c3


def random_key(seed, purpose):
    """Returns splitmix64 of seed and purpose, as in core/random/random.hpp."""
    z = (seed + 0x9E3779B97F4A7C15 * (purpose + 1)) & MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    z ^= z >> 31
    return z & MASK32, z >> 32


def sign_word(seed, step, word):
    """Returns the signs of elements 32 word to 32 word + 31 at a step: the first in the most significant bit, 1 is +.

    The counter has the low and high halves of word div 4 and of step. One call yields the signs of 128 elements.
    """
    block = word // 4
    counter = (block & MASK32, block >> 32, step & MASK32, step >> 32)
    return philox(counter, random_key(seed, SKETCH))[word % 4]


def sketch_sign(seed, step, k):
    return 1.0 if sign_word(seed, step, k // 32) >> (31 - k % 32) & 1 else -1.0


def sketch(g, seed, step, columns):
    """Sketches g (n) with random signs into `columns` sums: column k mod K gets sign(step, k) g[k].

    The expected squared norm of the sketch, over signs, is that of g. Its variance is twice the sum over columns of
    (sum g^2)^2 - sum g^4. The relative standard deviation is at most sqrt(2 / K) if the columns have equal shares of
    the sum of squares, and larger if few columns dominate. The sketch is linear: the sketch of a mean over ranks is
    the mean of the sketches.
    """
    sums = np.zeros(columns, dtype=np.float64)
    for k in range(g.size):
        sums[k % columns] += sketch_sign(seed, step, k) * float(g[k])
    return sums


def tensor_sketch(g, seed, step, first):
    """Sketches one tensor into 32 sums. Element j, counted from `first`, has the sign in bit 31 - j mod 32 of word
    (j mod 128) div 32 of philox(first, 2^31 + j div 128, step)."""
    sums = np.zeros(32, dtype=np.float64)
    for group in range((g.size + 127) // 128):
        words = philox((first & MASK32, 2**31 + group, step & MASK32, step >> 32), random_key(seed, SKETCH))
        for j in range(128 * group, min(128 * group + 128, g.size)):
            sums[j % 32] += float(g[j]) if words[j % 128 // 32] >> (31 - j % 32) & 1 else -float(g[j])
    return sums


def automatic_freeze(variance_sums, beta2, coefficient_beta, rate_warmup_steps, latest):
    """Returns the last warmup step T_w with `freeze: auto`, or None if the run ends first, and the list of checks.

    variance_sums[t - 1]: sum of v_t over each tensor, t = 1, 2, ..., before bias correction, which this function does.
    Every D = max(10, round(0.1 / (1 - beta2))) steps, from 2 D on, the corrected sums are compared with those D steps
    before. The change is the sum of |differences| over the earlier sum; a check is good if it is at most 4 %. The
    third good check in a row ends the warmup. But if the rate still warms up, or t < 1 / (1 - beta2), or t < 1 / (1 -
    coefficient_beta), the next good check does, unless a bad one comes first.
    """
    distance = max(10, round(0.1 / (1 - beta2)))
    corrected = [np.array(sums) / (1 - beta2**t) for t, sums in enumerate(variance_sums, start=1)]
    checks, row = [], 0
    for t in range(1, len(corrected) + 1):
        if t % distance == 0 and t > distance:
            before = corrected[t - 1 - distance]
            change = float(np.abs(corrected[t - 1] - before).sum() / before.sum())
            row = row + 1 if change <= 0.04 else 0
            checks.append(dict(step=t, change=change, in_a_row=row))
            # rounding must not move 1 / (1 - 0.9) above 10
            ripe = t >= max(rate_warmup_steps, round(1 / (1 - beta2), 6), round(1 / (1 - coefficient_beta), 6))
            if row >= 3 and ripe:
                return t, checks
        if t == latest:
            return t, checks
    return None, checks


def noise_scale(local_square, mean_square, examples, ranks):
    """Returns unbiased estimates of tr(Sigma) and |G|^2 (McCandlish et al., arXiv 1812.06162, appendix A.1).

    local_square: mean over ranks of |g_i|^2; mean_square: |mean g|^2; examples: count on each rank. The simple noise
    scale is the ratio of the two, after averaging each over steps. Returns (None, None) for one rank: unknown.
    """
    if ranks < 2:
        return None, None
    spread = ranks * examples * (local_square - mean_square) / (ranks - 1)
    return spread, (ranks * mean_square - local_square) / (ranks - 1)
