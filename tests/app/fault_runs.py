# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs of the program on hardware that fails.

    fault_runs.py CASE PROGRAM MPIRUN      CASE: flipped_bit

Exits with 4, ctest's sign for skipped, where a process may not write into its children's memory."""

import os
import re
import subprocess
import sys

from training_runs import PATIENCE, h5py, main, ranks_of


def flip_one_bit(process, values):
    """Flips the lowest bit of the first byte wherever these bytes stand in a process's memory. Returns how often."""
    count = 0
    with open(f"/proc/{process}/maps", encoding="ascii") as maps, open(f"/proc/{process}/mem", "r+b", buffering=0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if not rights.startswith("rw") or "[v" in line:
                continue
            first, end = (int(word, 16) for word in span.split("-"))
            memory.seek(first)
            try:
                held = memory.read(end - first)
            except OSError:  # reserved, or memory of a device
                continue
            for at in re.finditer(re.escape(values), held):
                memory.seek(first + at.start())
                memory.write(bytes([values[0] ^ 1]))
                count += 1
    return count


def flipped_bit(runs):
    """One bit of one parameter of one rank. Weights do not move here, so that the bytes to look for are known."""
    runs.train("still", 2, 16, 2, every=1, more=("--set", "optimizer.lr=0"))
    with h5py.File(runs.folder / "still/checkpoints/step_2/replicated.h5", "r") as file:
        name = "bert.encoder.layer.1.output.dense.weight"
        values = file["parameters"][name][:].tobytes()[-4096:]
    runs.deck("hit", 8, 100000, every=0)
    more = ("--set", "optimizer.lr=0", "--set", "run.verify_every=40", "--set", "statistics.evaluate_every=0")
    with subprocess.Popen(runs.command("hit", 2, *more), cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        for line in process.stdout:
            if line.startswith("step "):
                break
        try:
            count = flip_one_bit(ranks_of(process, 2)[1], values)
        except PermissionError as refused:
            process.kill()
            print(f"skipped: {refused}")
            sys.exit(4)
        assert count > 0
        told = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode not in (0, 85), told
    host = os.uname().nodename
    found = re.search(r"error: step (\d+): ranks do not hold the same state any more: rank 1 on (\S+) differs from rank 0 in "
                      r"parameters of ([\w.]+)( and \d+ more)?(;|, )", told)
    assert found and int(found[1]) % 40 == 0 and found[2].split(".")[0] == host.split(".")[0], told
    assert name in told, told
    assert "no checkpoint of this step is written" in told, told
    assert not list((runs.folder / "hit/checkpoints").glob("step_*"))


if __name__ == "__main__":
    main(globals())
