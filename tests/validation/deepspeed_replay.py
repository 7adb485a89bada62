# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares 1-bit LAMB and 1-bit Adam with DeepSpeed's, step by step over the same recorded gradients.

    DS_ACCELERATOR=cpu python deepspeed_replay.py DEEPSPEED_FOLDER REPLAY_PROGRAM [--ranks 2]

DEEPSPEED_FOLDER holds the package of DeepSpeed 0.19.6, the last release with 1-bit optimizers (deepspeed_ranks.py says
which parts run); REPLAY_PROGRAM is build/tests/replay. Needs torch, numpy, DeepSpeed's requirements and mpirun.

First part, what must be equal: 1152 elements, which both split into the same chunks without padding on 1 to 4 ranks;
no mask; the largest coefficient is below 1. Prints a table of the largest differences, relative to the largest
magnitude of a tensor (for numbers per layer: to themselves). Exits with 1 if one exceeds TOLERANCE. Second part: one
line for each difference on purpose.

TOLERANCE: a rounding error of fp32 is 6e-8. Different summation orders cause a few of them in each scale and norm. The
gradient computed from two momenta amplifies them by (1 + beta1) / (1 - beta1) = 19, and 30 steps accumulate them to
some 1e-6. One different sign changes an element of the momentum by twice its magnitude; a setting that differs in the
third digit causes 1e-4.
"""
import argparse
import sys

import numpy as np

import deepspeed_differences
import deepspeed_ranks
from deepspeed_cases import ADAM, FREEZE, LAMB, STEPS, Case

TOLERANCE = 5e-6
SHOWN = [1, FREEZE, FREEZE + 1, FREEZE + 2, FREEZE + 6, STEPS]  # replay returns vectors only for its last step


class Table:
    """Collects the largest differences by quantity and phase."""

    def __init__(self):
        self.largest = {}

    def add(self, quantity, phase, ours, theirs):
        """Adds a difference relative to the largest magnitude."""
        ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
        assert ours.shape == theirs.shape, f"{quantity}: {ours.shape} and {theirs.shape}"
        scale = max(np.max(np.abs(ours)), np.max(np.abs(theirs)))
        difference = float(np.max(np.abs(ours - theirs)) / scale) if scale > 0 else 0.0
        row = self.largest.setdefault(quantity, {})
        row[phase] = max(row.get(phase, 0.0), difference if np.isfinite(difference) else np.inf)

    def show(self):
        print("| largest relative difference | warmup | compressed |\n|---|---|---|")
        for quantity, row in self.largest.items():
            cells = [f"{row[phase]:.1e}" if phase in row else "" for phase in ("warmup", "compressed")]
            print(f"| {quantity} | {' | '.join(cells)} |")
        return max(max(row.values()) for row in self.largest.values())


def compare(case, theirs, program):
    """theirs: snapshots [ranks][steps]."""
    table = Table()
    for count in SHOWN:
        final, steps = case.ours(program, count)["final"], theirs[0][:count]
        phase = "warmup" if count <= FREEZE else "compressed"
        for quantity in ("parameters", "momentum", "variance", "fresh_variance"):
            # 1-bit LAMB has a fresh variance from the freeze on; 1-bit Adam never has one.
            if quantity not in steps[-1] or (quantity == "fresh_variance" and count <= FREEZE):
                continue
            for a, b in zip(final[quantity], case.split(steps[-1][quantity])):
                table.add(quantity.replace("_", " "), phase, a, b)
        if count > FREEZE and case.ranks > 1:
            for kind in ("worker", "server"):
                squares = [rank[count - 1][f"{kind}_error_squared_norm"] for rank in theirs]
                table.add(f"norm of the {kind} error", phase, np.sqrt(final[f"{kind}_error_squared_norm"]),
                          np.sqrt(squares))
    result = case.ours(program)
    for t, (a, b) in enumerate(zip(result["steps"], theirs[0], strict=True), start=1):
        assert (a["phase"] == "warmup") == (t <= FREEZE)
        for quantity in ("coefficient", "average", "factor"):
            for own, other in zip(a[quantity], b.get(quantity, [])):
                table.add(quantity, a["phase"], own, other)
        if b["worker_scales"]:
            table.add("worker scale", a["phase"], a["worker_scale"], b["worker_scales"][0])
            table.add("server scale", a["phase"], a["server_scale"], b["server_scales"][0])
    print(f"{case.name}, ranks {case.ranks}, {len(case.tensors)} tensors, freeze {FREEZE}, {STEPS} steps")
    if case.name == "onebit_lamb":
        by_step = lambda key: np.array([step[key] for step in result["steps"]])
        print("coefficients of the warmup by tensor:", ranges(by_step("coefficient")[:FREEZE]))
        print("factors:", ranges(by_step("factor")[FREEZE:]))
    return table.show()


def ranges(values):
    """values: (steps, tensors). Returns the range over the steps for each tensor, as text."""
    return ", ".join(f"{low:.4g} to {high:.4g}" for low, high in zip(values.min(axis=0), values.max(axis=0)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deepspeed_folder")
    parser.add_argument("replay_program")
    parser.add_argument("--ranks", type=int, default=2, choices=[1, 2, 3, 4])
    arguments = parser.parse_args()
    version = deepspeed_ranks.import_deepspeed(arguments.deepspeed_folder)
    print(f"DeepSpeed {version}, torch {deepspeed_ranks.torch.__version__}, numpy {np.__version__}")

    ranks = arguments.ranks
    narrow = dict(factor_min=0.99, factor_max=1.005, factor_threshold=0.004)
    equal = {
        "lamb": Case("onebit_lamb", ranks, LAMB),
        "lamb, narrow bounds of the factor": Case("onebit_lamb", ranks, {**LAMB, **narrow}),
        "adam with decay": Case("onebit_adam", ranks, ADAM, decay=0.1, flat=[list(range(5))]),
        "adam": Case("onebit_adam", ranks, ADAM, decay=0.0, flat=[list(range(5))]),
    }
    different = deepspeed_differences.cases(ranks) if ranks > 1 else {}
    theirs = deepspeed_ranks.run_jobs({name: case.theirs() for name, case in {**equal, **different}.items()}, ranks)

    largest = 0.0
    for name, case in equal.items():
        print(f"\n{name}", end=": ")
        largest = max(largest, compare(case, theirs[name], arguments.replay_program))
    print(f"largest difference {largest:.1e}, allowed {TOLERANCE:.0e}")
    if different:
        print("\nDifferent on purpose:")
        deepspeed_differences.show(different, theirs, arguments.replay_program)
    sys.exit(largest > TOLERANCE)


if __name__ == "__main__":
    main()
