# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads statistics in a loop while a process writes them and is killed: test_killed_writer.py WRITER"""
import signal
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(4)


def read(folder):
    """Returns the rows of /steps, after checking that all values are those of the writer."""
    with h5py.File(f"{folder}/statistics.h5", "r") as file:
        steps, layers = file["steps"][:], file["layers/step"][:]
        trust, evaluation = file["layers/trust_ratio"][:], file["evaluation"][:]
    rows = len(steps)
    for offset, name in enumerate(steps.dtype.names):
        assert np.array_equal(steps[name], np.arange(1, rows + 1) + 1000 * offset), (rows, name)
    assert np.array_equal(layers, 2 * np.arange(1, len(layers) + 1)), layers
    assert np.array_equal(trust[:, 2], 3 * layers), trust
    assert np.array_equal(evaluation["step"], 5 * np.arange(1, len(evaluation) + 1)), evaluation
    return rows


def main(writer):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        resume, reads = -1, 0
        for _ in range(5):
            process = subprocess.Popen([writer, folder, str(resume)], stdout=subprocess.PIPE, text=True)
            # A reader that opened the file before a resumed run truncated it sees zeros in removed rows.
            assert process.stdout.readline() == "ready\n"
            end, rows, seen = time.time() + 1.5, 0, 0
            while time.time() < end:
                assert process.poll() is None, "the writer ended by itself"
                rows = read(folder)
                reads += 1
                assert rows >= seen, (rows, seen)
                seen = rows
            process.send_signal(signal.SIGKILL)
            process.communicate()
            rows = read(folder)
            assert rows > max(resume, 0), "no progress was made"
            resume = rows - rows // 3
        print(f"{reads} reads, {rows} rows")


if __name__ == "__main__":
    main(sys.argv[1])
