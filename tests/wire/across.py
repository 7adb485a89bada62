#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command with one rank on each host of network.py and one thread per rank. Needs root.

    across.py HOSTS MEGABITS COMMAND...      HOSTS: 1 to 254; MEGABITS: rate of every link, each way; 0: no limit

Exits with the status of the command, or with 4 if namespaces cannot be created."""

import sys

from network import MOST_HOSTS, missing, network, started


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    if len(sys.argv) < 4 or not (sys.argv[1].isdecimal() and 0 < int(sys.argv[1]) <= MOST_HOSTS and sys.argv[2].isdecimal()):
        sys.exit(__doc__)
    if reason := missing():
        print(f"skipped: {reason}")
        sys.exit(4)
    with network(int(sys.argv[1])) as net:
        net.limit(int(sys.argv[2]))
        words, environment = net.command(sys.argv[3:])
        with started(words, env=environment) as job:
            code = job.wait()
    sys.exit(code)


if __name__ == "__main__":
    main()
