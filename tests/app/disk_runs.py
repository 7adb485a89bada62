# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs where files cannot be written or locked.

    disk_runs.py CASE PROGRAM MPIRUN      CASE: full_disk | full_disk_for_a_while | one_rank"""

import os
import re
import resource
import signal
import subprocess
import time

from runs import PATIENCE, main, newest_checkpoint, ranks_of


def full_disk(runs):
    """A file that cannot grow ends the run with one error that names it; what was written before stays good. A limit on
    file sizes, set while the run goes on, stands in for the disk."""
    checkpoint = ("checkpoint", 2, 1_000_000, r"step_\d+\.part/replicated\.h5", "checkpoints/step_2")
    table = ("statistics", 0, 1000, r"statistics(/segment_000000)?\.h5\.part", "statistics.h5")
    for ranks, (what, every, limit, file, first) in ((1, checkpoint), (2, checkpoint), (2, table)):
        name = f"{what}{ranks}"
        runs.deck(name, 16, 300, every)
        command = runs.command(name, ranks)[0 if ranks > 1 else len(runs.launch(1)):]
        process = subprocess.Popen(command + ["--set", f"statistics.flush={100 if every else 4}"], cwd=runs.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # The first segment is there before statistics.h5 shows its rows.
        while not (runs.folder / name / first).exists() or (not every and len(runs.table(name)) == 0):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        for rank in ranks_of(process, ranks):
            resource.prlimit(rank, resource.RLIMIT_FSIZE, (limit, limit))
        output = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 1, (process.returncode, output)
        errors = [line for line in output.splitlines() if "error: " in line]
        assert len(errors) == 1, output
        assert output.count("training goes on") == (2 if every else 0), output  # checkpoint.failure_limit: 3
        assert re.search(file + r".*cannot be written: File too large$", errors[0]), output
        assert "egmentation" not in output and "signal" not in output, output
        done = [int(folder.parent.name[5:]) for folder in (runs.folder / name).glob("checkpoints/step_*[0-9]/manifest")]
        last = runs.train(name, ranks, 16, max(done, default=0) + 2, every, more=("--resume",))
        assert "finished at step" in last, last
        if every:
            assert "resumed from" in last, last
        else:
            assert f"what was recorded before is in {runs.folder}/{name}/unfinished_1" in last, last
            assert len(runs.table(f"{name}/unfinished_1")) > 0


def full_disk_for_a_while(runs):
    """Checkpoints that cannot be written are warned of, and training goes on: the next ones are there again."""
    runs.deck("run", 16, 3000, 2)
    with subprocess.Popen(runs.command("run", 2) + ["--set", "checkpoint.failure_limit=100000", "--set", "statistics.flush=3000"],
                          cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not (runs.folder / "run/checkpoints/step_2").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        ranks = ranks_of(process, 2)
        room = resource.prlimit(ranks[0], resource.RLIMIT_FSIZE)
        for rank in ranks:
            resource.prlimit(rank, resource.RLIMIT_FSIZE, (1_000_000, room[1]))
        told = next(line for line in process.stdout if "not written" in line)
        for rank in ranks:
            resource.prlimit(rank, resource.RLIMIT_FSIZE, room)
        assert re.search(r"step \d+: checkpoint not written: .*step_\d+\.part/replicated\.h5.*File too large; training goes on", told), told
        failed = int(re.search(r"step_(\d+)\.part", told)[1])
        while not any(int(path.name[5:]) > failed + 10 for path in (runs.folder / "run/checkpoints").glob("step_*[0-9]")):
            assert process.poll() is None, "the run ended without a further checkpoint"
            time.sleep(0.02)
        os.kill(ranks[1], signal.SIGTERM)
        process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 85
    assert not list((runs.folder / "run/checkpoints").glob("*.part"))  # nothing of the failed ones is left


def contents(folder):
    """Every file below a folder, byte for byte."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def one_rank(runs):
    """After the freeze every rank has a file of its own in a checkpoint. Where one rank alone cannot write its file, all
    go on, and neither this run nor the one that resumes it computes anything else than an undisturbed one."""
    more = ("--set", "optimizer.method=onebit_lamb", "--set", "optimizer.freeze.step=4", "--set", "schedule.decay=constant",
            "--set", "schedule.warmup_steps=3", "--set", "checkpoint.failure_limit=100000")
    runs.deck("run", 16, 3000, 2)
    checkpoints = runs.folder / "run/checkpoints"
    with subprocess.Popen(runs.command("run", 2, *more), cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        first = re.compile(r"step (\d+)/")
        while not ((step := first.match(process.stdout.readline())) and int(step[1]) >= 10):
            assert process.poll() is None, process.stdout.read()
        rank = ranks_of(process, 2)[1]
        room = resource.prlimit(rank, resource.RLIMIT_FSIZE)
        resource.prlimit(rank, resource.RLIMIT_FSIZE, (100_000, room[1]))
        told = next(line for line in process.stdout if "not written" in line)
        before = {path: held for path, held in contents(checkpoints).items() if ".part" not in path.parent.name}
        again = next(line for line in process.stdout if "not written" in line)
        resource.prlimit(rank, resource.RLIMIT_FSIZE, room)
        for line in (told, again):
            assert re.search(r"warning: step \d+: checkpoint not written: rank 1: \S+/step_\d+\.part/rank1\.h5: .*cannot be written: "
                             r"File too large; training goes on", line), line
        failed = int(re.search(r"step_(\d+)\.part", again)[1])
        while not (checkpoints / f"step_{failed + 10}/manifest").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        os.kill(rank, signal.SIGTERM)
        process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 85
    assert any(path.name == "rank1.h5" for path in before), before.keys()
    after = contents(checkpoints)
    assert all(after[path] == held for path, held in before.items())
    assert not (checkpoints / f"step_{failed}").exists() and not list(checkpoints.glob("*.part"))
    last = int(newest_checkpoint(runs.folder / "run").name[5:]) + 3
    assert "resumed from" in runs.train("run", 2, 16, last, 2, more=("--resume", *more))
    runs.train("undisturbed", 2, 16, last, more=more)
    runs.compare("undisturbed", "run", last)


if __name__ == "__main__":
    main(globals())
