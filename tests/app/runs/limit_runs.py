# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs when the system refuses threads or memory.

    limit_runs.py CASE PROGRAM MPIRUN FAILING_THREADS      CASE: threads_refused | memory_refused

FAILING_THREADS is the library built from failing_threads.c."""

import os
import re
import resource
import subprocess
import sys

from runs import PATIENCE, main, preloaded

TEXT = ["text.txt", "--vocab", "vocab.txt", "--sequence-length", "64", "--out", "again"]
LIMITS = r"; limits here: .+; raise one, or use fewer threads \(--threads, OMP_NUM_THREADS\) or ranks"


def threads_refused(runs):
    """One error states the purpose of the thread and the limit. No partial files remain."""
    runs.deck("run", 16, 2)
    shard = str(next((runs.folder / "shards").glob("*.h5")))

    def told(command, most, expected, ranks=1, threads=4):
        variables = preloaded(os.path.abspath(sys.argv[4]), FAILING_THREADS=str(most), OMP_NUM_THREADS=str(threads))
        set_here = ["env", *(f"{name}={value}" for name, value in variables.items())]
        return runs.refuse((runs.launch(ranks) if ranks > 1 else []) + set_here + [runs.program] + command, expected)

    error = told(["prepare", *TEXT, "--threads", "8"], 3, 1)
    assert re.fullmatch("error: no thread to work on the text: Resource temporarily unavailable" + LIMITS, error), error
    assert not list(runs.folder.glob("again*"))
    error = told(["inspect", shard], 0, 1)
    assert re.fullmatch("error: no thread to read and write files: Resource temporarily unavailable" + LIMITS, error), error
    with open(runs.folder / "text.txt", "rb") as text:
        variables = preloaded(os.path.abspath(sys.argv[4]), FAILING_THREADS="2")
        done = subprocess.run([runs.program, "tokenize", "--vocab", "vocab.txt", "--threads", "8"], cwd=runs.folder, stdin=text,
                              capture_output=True, text=True, check=False, timeout=PATIENCE, env=dict(os.environ, **variables))
    assert done.returncode == 1 and done.stdout == "" and "error: no thread to work on the text" in done.stderr, done
    # Threads of OpenMP, which would end the program, and of MPI. A build without OpenMP needs a few threads, too.
    for command in (["check", "run.yaml"], ["train", "run.yaml"], ["bench", "kernels", "--elements", "100"]):
        for ranks in (1, 2):
            error = told(command, 2, 2, ranks)
            assert re.fullmatch("error: no thread to compute with: Resource temporarily unavailable" + LIMITS, error), error
    assert not (runs.folder / "run").exists()

    def refused(**threads):
        variables = preloaded(os.path.abspath(sys.argv[4]), FAILING_THREADS="20", **threads)
        return subprocess.run([runs.program, "check", "run.yaml"], cwd=runs.folder, capture_output=True, text=True, check=False,
                              timeout=PATIENCE, env=dict(os.environ, **variables)).returncode == 2

    # Kokkos's number of threads takes precedence over OpenMP's. A build without OpenMP uses neither.
    if refused(OMP_NUM_THREADS="30"):
        assert refused(OMP_NUM_THREADS="1", KOKKOS_NUM_THREADS="30")
        assert not refused(OMP_NUM_THREADS="30", KOKKOS_NUM_THREADS="1")


def memory_refused(runs):
    """Memory that does not fit into the address space is one error that names the limit."""
    def limited(mebibytes, command, **environment):
        most = mebibytes << 20
        return subprocess.run([runs.program, *command], cwd=runs.folder, capture_output=True, text=True, check=False,
                              timeout=PATIENCE, env=dict(os.environ, **environment),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))

    if limited(4096, ["--version"]).returncode != 0:  # the address sanitizer reserves more
        print("skipped: the program does not start with a limit on its address space")
        sys.exit(4)
    # OpenBLAS allocates buffers before main() and in products, and retries forever if that fails.
    done = limited(200, ["--version"])
    assert done.returncode == 1 and done.stdout == "", done
    assert re.fullmatch(r"error: the libraries of this program did not start in \d+ s of processor time; OpenBLAS .+; "
                        r"`ulimit -v` is 204800 KiB; raise the limits of memory\n", done.stderr), done.stderr
    runs.deck("run", 16, 2)
    for mebibytes in range(400, 1200, 100):  # every run ends; below some size MPI does not start
        done = limited(mebibytes, ["check", "run.yaml"], OMP_NUM_THREADS="2")
        assert done.returncode == 0 or done.stderr, (mebibytes, done)
    (runs.folder / "line.txt").write_text("word " * (100 << 20))
    done = limited(400, ["prepare", "line.txt", "--vocab", "vocab.txt", "--out", "again", "--threads", "1"])
    assert done.returncode == 1, done
    assert re.fullmatch(r"error: not enough memory; limits here: `ulimit -v` 409600 KiB \(400 MiB\).*; raise one, or .*\n",
                        done.stderr), done.stderr
    assert not list(runs.folder.glob("again*"))


if __name__ == "__main__":
    main(globals())
