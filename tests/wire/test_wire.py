# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""What two hosts' links carry is what the program counts, in either phase, and their namespaces are gone afterwards.
A command across hosts is one rank on each, and its exit status is told.

    test_wire.py PROGRAM

Exits with 4, ctest's sign for skipped, where namespaces cannot be made."""

import pathlib
import subprocess
import sys
import tempfile

from network import missing, network, run
from sweep import Runs, Sweep, parse


def main():
    if reason := missing():
        print(f"skipped: {reason}")
        sys.exit(4)
    options = parse([sys.argv[1], "--model", "tiny", "--batch", "2", "--patience", "600"])
    with tempfile.TemporaryDirectory() as folder:
        with network(2) as net:
            prefix = net.prefix
            net.limit(200)
            sweep = Sweep(options, net, Runs(options.program, "mpirun", folder))
            assert sweep.compute_alone() > 0  # launchers on all hosts at once
            for wire in options.wires:
                _, ratios = sweep.measure(wire)
                print(f"{wire}: the wire carried of what was counted, and of that again: {ratios}")
                assert all(abs(carried - again - 1) < 0.02 for carried, again in ratios), ratios
    assert prefix not in run("ip", "netns", "list")
    across = [sys.executable, pathlib.Path(__file__).with_name("across.py"), "2", "100", "sh", "-c"]
    told = run(*across, "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE")
    assert sorted(line for line in told.splitlines() if line.startswith("rank")) == ["rank 0 of 2", "rank 1 of 2"], told
    assert subprocess.run([*across, "exit 3"], check=False, capture_output=True, timeout=60).returncode == 3


if __name__ == "__main__":
    main()
