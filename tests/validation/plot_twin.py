# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Plots the held-out loss of a run and its PyTorch twin against tokens, and prints the table: plot_twin.py RUN CSV SVG

Exits with 1 if the two differ by more than 1 % at the end."""
import csv
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "bellwether"  # the same numbers give the same file
from matplotlib import pyplot

LARGEST_DIFFERENCE = 0.01


def main(run, table, picture):
    with h5py.File(run / "statistics.h5") as file:
        steps, ours = file["steps"][:], file["evaluation"][:]
    with open(table, newline="") as file:
        twin = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert [row["step"] for row in twin] == ours["step"].tolist(), "not the same evaluations"
    assert [row["tokens"] for row in twin] == ours["tokens"].tolist(), "not the same samples"
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(steps["tokens"] / 1e6, steps["mlm_loss"], color="0.8", linewidth=0.7, label="Bellwether, training")
    axes.plot(ours["tokens"] / 1e6, ours["mlm_loss"], "o-", label="Bellwether, held out")
    axes.plot([row["tokens"] / 1e6 for row in twin], [row["heldout_mlm_loss"] for row in twin], "x--",
              label="PyTorch, held out")
    axes.set(xlabel="tokens (millions)", ylabel="masked-LM loss (nats a position)")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(picture, metadata={"Date": None})
    print("| step | million tokens | Bellwether | PyTorch | difference |\n|---|---|---|---|---|")
    for mine, other in zip(ours, twin):
        change = mine["mlm_loss"] / other["heldout_mlm_loss"] - 1
        print(f"| {mine['step']} | {mine['tokens'] / 1e6:.2f} | {mine['mlm_loss']:.4f} "
              f"| {other['heldout_mlm_loss']:.4f} | {100 * change:+.2f} % |")
    return 0 if abs(change) <= LARGEST_DIFFERENCE else 1


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:])))
