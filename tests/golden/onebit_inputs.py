# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tensors and gradients of a replay file. Both may be given by formulas."""

import math

import numpy as np


def formula_gradient(spec, count, l, call, rank, late):
    """Returns h_l (sin(0.7 t + k + p i) + 0.25 cos(1.3 t k + i)) in double, for call t = 1, 2, ..., element k of tensor
    l, counted from 0, and rank i. It is zero in a range of `late` [tensor, first, count, t0] while t < t0."""
    k = np.arange(count, dtype=np.float64)
    g = spec["height"][l] * (np.sin(0.7 * call + k + spec["phase"] * rank) + 0.25 * np.cos(1.3 * call * k + rank))
    for tensor, first, length, begins in late:
        if tensor == l and call < begins:
            g[first:first + length] = 0
    return g


def inputs(document):
    """Returns the tensors, with `initial` as values, and gradients[call][rank] as flat arrays (n).

    Formulas: initial {"count", "height", "step", "shift"}: height sin(step k + shift). gradients {"calls", "ranks",
    "phase", "height" [tensors], "late" [[tensor, first, count, t0]], "not_finite" [[call, rank, tensor, element]]}.
    """
    tensors = []
    for tensor in document["tensors"]:
        initial = tensor["initial"]
        if isinstance(initial, dict):
            k = np.arange(initial["count"], dtype=np.float64)
            initial = initial["height"] * np.sin(initial["step"] * k + initial["shift"])
        tensors.append({**tensor, "initial": np.asarray(initial, dtype=np.float64)})
    given, gradients = document["gradients"], []
    if isinstance(given, list):
        for call in given:
            gradients.append([np.concatenate([np.asarray(g, dtype=np.float64) for g in rank]) for rank in call])
        return tensors, gradients
    for call in range(1, given["calls"] + 1):
        ranks = []
        for rank in range(given["ranks"]):
            pieces = [formula_gradient(given, tensor["initial"].size, l, call, rank, given.get("late", []))
                      for l, tensor in enumerate(tensors)]
            for bad_call, bad_rank, l, element in given.get("not_finite", []):
                if (bad_call, bad_rank) == (call, rank):
                    pieces[l][element] = np.nan
            ranks.append(np.concatenate(pieces))
        gradients.append(ranks)
    return tensors, gradients


def finite(value):
    """Replaces infinities by None, because JSON has none. They are margins without any number."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
