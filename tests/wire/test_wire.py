# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""What two hosts' links carry is what the program counts, in either phase, and their namespaces are gone afterwards.

    test_wire.py PROGRAM

Exits with 4, ctest's sign for skipped, where namespaces cannot be made."""

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
            for wire in options.wires:
                _, ratios = sweep.measure(wire)
                print(f"{wire}: the wire carried {ratios[0]:.4f} and {ratios[1]:.4f} of what was counted")
                assert all(abs(ratio - 1) < 0.02 for ratio in ratios), ratios
    assert prefix not in run("ip", "netns", "list")


if __name__ == "__main__":
    main()
