# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""A simple compressed mean over simulated ranks: two phases, one bit an element, error feedback on both sides.

See 1-bit LAMB (Li et al., arXiv 2104.06069) and 1-bit Adam (Tang et al., arXiv 2102.02888, algorithm 1). The flat
vector of n elements is divided in two ways, both at multiples of 32 elements, so that every part has whole words:
    chunks  rank j serves elements [j c, min((j+1) c, n)), c = 32 ceil(n / (32 W)); the last may be short or empty
    groups  group q has elements [q s, min((q+1) s, n)), s = 32 ceil(n / (32 G)); each group has separate scales
A worker has one scale for each group; a server has one for each piece of a group inside its chunk. Masked elements
(those not `active`) are zero in input and output. They have no residual and do not count in scales.
"""

import dataclasses
import math

import numpy as np


def ranges(count, parts):
    """Returns `parts` contiguous ranges (first, end) of whole 32-element words that cover `count` elements."""
    length = 32 * math.ceil(count / (32 * parts))
    return [(min(p * length, count), min((p + 1) * length, count)) for p in range(parts)]


def words(signs, active):
    """Returns signs as hex digits, eight for 32 elements, highest bit first. Masked elements and padding are 0."""
    padded = np.zeros(32 * math.ceil(signs.size / 32), dtype=np.uint8)
    padded[: signs.size] = signs & active
    return np.packbits(padded).tobytes().hex()


def scale_of(z, active, rule):
    """Returns the root mean square or the mean magnitude of the active elements of z; 0 if there are none."""
    values = z[active].astype(np.float64)
    if values.size == 0:
        return 0.0
    return float(np.sqrt(np.mean(values * values)) if rule == "rms" else np.mean(np.abs(values)))


@dataclasses.dataclass
class Exchange:
    """Result of one call. Scales: a list for each rank, by group for workers, by piece of its chunk for servers."""

    output: np.ndarray
    signs: np.ndarray  # (n) of the mean, True: +
    worker_signs: list
    worker_scale: list
    server_scale: list
    worker_margin: float  # smallest |z| / scale over ranks and active elements: distance of the nearest sign change
    server_margin: float


class CompressedMean:
    """Computes the mean of W vectors of n elements. Has the residuals of all W ranks.

    active: (n) bool, the active elements; scale: "rms" or "mean_magnitude"; real: type of vectors and residuals.
    """

    def __init__(self, ranks, active, scale="rms", groups=1, real=np.float64):
        assert scale in ("rms", "mean_magnitude")
        self.ranks, self.active, self.rule, self.real = ranks, active, scale, real
        self.count = active.size
        self.groups = ranges(self.count, groups)
        self.chunks = ranges(self.count, ranks)
        # (ranks)(pieces): the non-empty pieces of groups in each server's chunk
        self.pieces = [[(max(first, a), min(end, b)) for a, b in self.groups if max(first, a) < min(end, b)]
                       for first, end in self.chunks]
        self.worker_error = [np.zeros(self.count, dtype=real) for _ in range(ranks)]
        self.server_error = np.zeros(self.count, dtype=real)  # of all servers, in element order

    def bytes_sent(self):
        """Returns the bytes one rank sends: in each phase, a chunk of bits with its scales to every other rank."""
        if self.ranks == 1:
            return 0
        chunk = 4 * math.ceil(self.count / (32 * self.ranks))
        scales = max(len(pieces) for pieces in self.pieces)
        return (self.ranks - 1) * 2 * (chunk + 4 * scales)

    def _compress(self, z, parts, error):
        """Returns signs, scales and margin of z over `parts`. Writes the residual to `error`."""
        signs = z >= 0  # zero and -0.0 count as +
        scales, margin = [], math.inf
        for first, end in parts:
            part = slice(first, end)
            active = self.active[part]
            scale = scale_of(z[part], active, self.rule)
            signed = np.where(signs[part], self.real(scale), -self.real(scale))
            error[part] = np.where(active, z[part] - signed, 0)
            scales.append(scale)
            if scale > 0:
                margin = min(margin, float(np.min(np.abs(z[part][active]))) / scale)
        return signs, scales, margin

    def _decode(self, signs, parts, scales):
        out = np.zeros(self.count, dtype=self.real)
        for (first, end), scale in zip(parts, scales):
            part = slice(first, end)
            out[part] = np.where(signs[part], self.real(scale), -self.real(scale))
        return np.where(self.active, out, 0).astype(self.real)

    def mean(self, vectors):
        """Returns the Exchange for the vectors (n), one for each rank. Every rank gets its `output`."""
        assert len(vectors) == self.ranks
        vectors = [np.where(self.active, vector, 0).astype(self.real) for vector in vectors]
        if self.ranks == 1:
            return self._identity(vectors[0])
        signs, scales, margins = [], [], []
        for rank, vector in enumerate(vectors):
            z = vector + self.worker_error[rank]
            s, c, margin = self._compress(z, self.groups, self.worker_error[rank])
            signs.append(s), scales.append(c), margins.append(margin)
        total = np.zeros(self.count, dtype=self.real)
        for rank in range(self.ranks):  # the order of the sum is part of the definition
            total = total + self._decode(signs[rank], self.groups, scales[rank])
        y = total / self.ranks + self.server_error
        mean_signs = np.zeros(self.count, dtype=bool)
        output = np.zeros(self.count, dtype=self.real)
        server_scales, server_margin = [], math.inf
        for pieces in self.pieces:
            s, c, margin = self._compress(y, pieces, self.server_error)
            decoded = self._decode(s, pieces, c)
            for first, end in pieces:
                mean_signs[first:end] = s[first:end]
                output[first:end] = decoded[first:end]
            server_scales.append(c)
            server_margin = min(server_margin, margin)
        return Exchange(output, mean_signs, signs, scales, server_scales, min(margins), server_margin)

    def _identity(self, vector):
        """One rank compresses nothing. The first call adds the residuals of an earlier run on more ranks."""
        output = vector + self.worker_error[0] + self.server_error
        self.worker_error[0][:] = 0
        self.server_error[:] = 0
        return Exchange(output, output >= 0, [output >= 0], [[0.0]], [[0.0]], math.inf, math.inf)
