#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the compression errors per tensor in runs of a 1-bit method.

    python3 tests/studies/layer_shares.py RUN...        run directories, as study.py makes them below --work

The values are means over the runs and over the first and the last fifth of the compressed steps, from /layers of
statistics.h5: the workers' and servers' share of error (sum of squares of the residual over that of the compressed values),
the root of the variance over that at the freeze, and the share of elements whose sign is the mean's. Biases and LayerNorms
form one row, without the lowest and highest tenth: a tensor of few elements may have a residual many times as large as its
values. The output is Markdown; docs/results/log/2026-11-23_convergence_studies.md has an example."""

import argparse
import pathlib
import sys

import h5py
import numpy as np

COLUMNS = {"worker_error_share": "workers", "server_error_share": "servers", "root_growth": "root of the variance",
           "sign_agreement": "signs agree"}


def means(path):
    """Returns names, and {column: (2, tensors)}: means over the first and the last fifth of the compressed steps."""
    with h5py.File(path / "statistics.h5", "r") as file:
        phase, layers = file["steps"]["phase"][:], file["layers"]
        compressed = file["steps"]["step"][:][phase == 1]
        if len(compressed) == 0 or "worker_error_share" not in layers:
            sys.exit(f"{path}: no compressed step on several ranks")
        names, steps = layers["name"].asstr()[:].tolist(), layers["step"][:]
        fifth = (compressed[-1] - compressed[0]) / 5
        parts = [(steps >= compressed[0]) & (steps <= compressed[0] + fifth), steps >= compressed[-1] - fifth]
        if not all(part.any() for part in parts):
            sys.exit(f"{path}: no rows of /layers in the first or in the last fifth of the compressed steps")
        found = {}
        for column in COLUMNS.keys() & layers.keys():
            values = layers[column][:]
            found[column] = np.array([[np.nanmean(tensor) if np.isfinite(tensor).any() else np.nan for tensor in values[part].T]
                                      for part in parts])
    return names, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    found = [means(path) for path in parser.parse_args().runs]
    names = found[0][0]
    if any(other != names for other, _ in found):
        sys.exit("the runs have different tensors")
    shown = [column for column in COLUMNS if all(column in values for _, values in found)]
    tables = {column: np.mean([values[column] for _, values in found], axis=0) for column in shown}
    print("| tensor | " + " | ".join(f"{COLUMNS[c]}, {part}" for c in shown for part in ("first fifth", "last fifth")) + " |")
    print("|---" * (1 + 2 * len(shown)) + "|")
    vectors = [t for t, name in enumerate(names) if name.endswith(".bias") or ".LayerNorm." in name]
    for t, name in enumerate(names):
        if t not in vectors:
            print(f"| {name} | " + " | ".join(f"{tables[c][part, t]:.2f}" for c in shown for part in (0, 1)) + " |")
    spans = [tables[c][part, vectors] for c in shown for part in (0, 1)]
    print("| biases and LayerNorms | " + " | ".join(f"{low:.2f} to {high:.2f}" for low, high in (np.nanquantile(s, (0.1, 0.9)) for s in spans)) + " |")


if __name__ == "__main__":
    main()
