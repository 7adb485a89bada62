# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests network.py, sweep.py and across.py with two hosts. The bytes on each link match the program's counters in both
phases; a sweep returns the requested lines and removes its namespaces. A command across hosts runs one rank on each and
returns its exit status. A signal ends all of it, and the next network removes what a killed script has left.

    test_wire.py PROGRAM

Exits with 4 (skipped, for ctest) if namespaces cannot be created."""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from network import BURST, missing, network, processes_of, run
from sweep import BITS, PAYLOAD, Runs, Sweep, over_bound, over_count, parse


def main():
    if reason := missing():
        print(f"skipped: {reason}")
        sys.exit(4)
    cells()
    options = parse([sys.argv[1], "--model", "tiny", "--batch", "16", "--rates", "200", "--calls", "1", "--patience", "600"])
    with tempfile.TemporaryDirectory() as folder:
        with network(2) as net:
            prefix = net.prefix
            lines = []
            Sweep(options, net, Runs(options.program, "mpirun", folder)).run(lines.append)
    assert [(line["megabits"], line["wire"]) for line in lines] == [(rate, wire) for rate in (0, 200) for wire in options.wires]
    for line in lines:
        kept(line)
    assert prefix not in run("ip", "netns", "list")
    across = [sys.executable, pathlib.Path(__file__).with_name("across.py"), "2", "100", "sh", "-c"]
    told = run(*across, "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE")
    assert sorted(line for line in told.splitlines() if line.startswith("rank")) == ["rank 0 of 2", "rank 1 of 2"], told
    assert subprocess.run([*across, "exit 3"], check=False, capture_output=True, timeout=60).returncode == 3
    for signals in ([signal.SIGHUP], [signal.SIGINT, signal.SIGTERM, signal.SIGINT], [signal.SIGQUIT]):
        ended(across[:-2], signals)
    collected(across[:-2])


def cells():
    """Checks the table cells for bytes and bounds."""
    assert over_count({"carried": [1020, 1000], "again": [20, 0], "counted": 1000}) == "1.000 (1.0)"
    assert over_count({"carried": [1031, 1000, 1000], "again": [1, 0, 0], "counted": 1000}) == "1.010"
    assert (over_bound(3.0, 2.0), over_bound(3.0, None), over_bound(None, 2.0)) == ("3.000 s | 1.50", "3.000 s | ", " | ")


def kept(line):
    """Checks a line of a sweep: the bytes of each host, and that no mean is faster than the links."""
    for phase, traffic in line["traffic"].items():
        print(f"{line['megabits']} Mbit/s, {line['wire']}, {phase}: {traffic}")
        assert len(traffic["carried"]) == len(traffic["again"]) == 2
        for carried, again in zip(traffic["carried"], traffic["again"]):
            assert 0 <= again <= carried and abs((carried - again) / traffic["counted"] - 1) < 0.02, traffic
    assert line["alone"] > 0  # ran on all hosts at once
    octets = line["parameters"] * BITS[line["wire"]] / 8  # with two ranks, each sends as many as the vector has
    if line["megabits"] == 0:
        assert line["bound"] is None and line["mean"] > 0
        return
    link = line["megabits"] * 1e6 / 8
    assert abs(line["bound"] / (octets / PAYLOAD / link) - 1) < 1e-9
    assert line["mean"] > (octets - BURST) / link and line["exposed"] == max(0, line["dense"] - line["alone"]), line


def began(script, name):
    """Waits until the command runs on both hosts and returns their processes."""
    until = time.monotonic() + 60
    while not all("sleep" in programs(f"{name}{host}").values() for host in (1, 2)):
        assert script.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    return programs(f"{name}1") | programs(f"{name}2")


def collected(across):
    """Checks that a new network removes the remains of a killed script."""
    with subprocess.Popen([*across, "sleep", "3600"]) as script:
        name = f"bw{script.pid}h"
        running = began(script, name)
        script.kill()
    assert name in run("ip", "netns", "list")
    foreign = f"bw{script.pid}"
    run("ip", "netns", "add", foreign)
    try:
        run(*across, "true")
        assert foreign in run("ip", "netns", "list").split()
    finally:
        run("ip", "netns", "del", foreign)
    assert name not in run("ip", "netns", "list") and f"bw{script.pid}hub" not in run("ip", "netns", "list")
    assert not [number for number, program in running.items() if name_of(number) == program], running
    assert not list(pathlib.Path(tempfile.gettempdir()).glob(f"bw{script.pid}_*"))


def ended(across, signals):
    """Checks that the processes on all hosts end with the script, for any of `signals`."""
    with subprocess.Popen([*across, "sleep", "3600"]) as script:
        name = f"bw{script.pid}h"
        running = began(script, name)
        for one in signals:
            script.send_signal(one)
            time.sleep(0.2)
        assert script.wait(timeout=60) == 128 + signals[0]
    assert name not in run("ip", "netns", "list")
    assert not [number for number, program in running.items() if name_of(number) == program], running


def name_of(number):
    """Returns the name of a running process, or None."""
    try:
        _, name, state = re.match(r"(\d+) \((.*)\) (\w)", pathlib.Path(f"/proc/{number}/stat").read_text(encoding="utf-8")).groups()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == "Z" else name


def programs(host):
    """Returns PIDs and names of the processes of a namespace, which may not exist yet."""
    return {number: name_of(number) for number in processes_of(host)}


if __name__ == "__main__":
    main()
