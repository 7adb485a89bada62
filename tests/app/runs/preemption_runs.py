# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs that end before their last step and continue, and the memory that saving their state takes.

    preemption_runs.py CASE PROGRAM MPIRUN FAILING_MPI      CASE: walltime | stop_file | second_signal | fruitless |
                                                                  fruitless_start | snapshots

FAILING_MPI is the library built from failing_mpi.c."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

from runs import PATIENCE, h5py, main, newest_checkpoint, preloaded, ranks_of


def stopped_step(runs, name, text):
    """Returns the step at which a run stopped. It has a complete checkpoint and the last row of the statistics."""
    step = int(re.search(r"stopped at step (\d+)", text).group(1))
    assert (runs.folder / name / f"checkpoints/step_{step}/manifest").exists(), text
    assert runs.table(name)["step"][-1] == step
    return step


def walltime(runs):
    """Jobs stop before their time limit. Even with too little time, they make one step."""
    told = runs.train("limited", 2, 16, 100000, expected=85, more=("--set", "run.walltime=0:00:09"))
    assert ", near the end of run.walltime; continue with --resume" in told, told
    first = stopped_step(runs, "limited", told)
    for step in (first + 1, first + 2):
        told = runs.train("limited", 1, 16, 100000, expected=85,
                          more=("--resume", "--set", "run.walltime=0:00:01"))
        assert stopped_step(runs, "limited", told) == step, told
        assert "resumed from" in told and "settings differ" not in told, told


def stop_file(runs):
    """A file created during the run stops it once: the file is removed, so the next job continues."""
    constant = ("--set", "schedule.decay=constant", "--set", "schedule.warmup_steps=5")
    runs.deck("filed", 8, 100000)
    stop = runs.folder / "filed/stop"
    rest, code = runs.stop(runs.command("filed", 2, *constant), lambda job: stop.touch())
    assert code == 85, rest
    assert " by the file stop in the run directory; continue with --resume" in rest, rest
    step = stopped_step(runs, "filed", rest)
    assert not stop.exists()
    # Stop again by a signal to a rank other than the first. The file comes too late to be the reason, but is removed,
    # too.
    def both(job):
        os.kill(ranks_of(job, 2)[1], signal.SIGUSR2)
        stop.touch()
    rest, code = runs.stop(runs.command("filed", 2, "--resume", *constant), both)
    assert code == 85 and re.search(" by (a signal|the file stop in the run directory); ", rest), rest
    assert not stop.exists()
    assert stopped_step(runs, "filed", rest) > step
    step = stopped_step(runs, "filed", rest)
    told = runs.train("filed", 2, 8, step + 2, more=("--resume", *constant))
    assert "resumed from" in told and f"finished at step {step + 2}" in told, told
    runs.train("unstopped", 2, 8, step + 2, more=constant)
    runs.compare("unstopped", "filed", step + 2)


def second_signal(runs):
    """The first signal lets the step end, however long it takes; a second one ends the program immediately."""
    runs.train("slow", 2, 8, 2, every=1)
    runs.deck("slow", 8, 4)
    with subprocess.Popen(runs.command("slow", 2, "--resume", "--set", "batch.global=100000"), cwd=runs.folder, text=True,
                          stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            if "resumed from" in line:
                break
        time.sleep(3)  # in the middle of a step that takes minutes
        rank = ranks_of(process, 2)[1]
        os.kill(rank, signal.SIGUSR1)
        time.sleep(1)
        assert process.poll() is None
        os.kill(rank, signal.SIGUSR1)
        rest = process.stdout.read()
        assert process.wait(timeout=PATIENCE) not in (0, 85), rest
    assert "step 3" not in rest and newest_checkpoint(runs.folder / "slow").name == "step_2", rest
    assert "finished at step 4" in runs.train("slow", 2, 8, 4, more=("--resume",))


def fruitless(runs):
    """Jobs that die before each checkpoint are not requeued forever: the fourth start at a step is refused on all
    ranks, until a user removes the record of starts. A completed run may be started as often as desired."""
    runs.train("dying", 1, 8, 4, every=2)
    for _ in range(4):
        assert "finished at step 4" in runs.train("dying", 1, 8, 4, every=2, more=("--resume",))
    runs.deck("dying", 8, 100000, every=50000)
    command = runs.command("dying", 1, "--resume")[runs.command("dying", 1).index(runs.program):]
    for _ in range(3):
        assert runs.stop(command, lambda job: job.kill())[1] == -signal.SIGKILL
    starts = runs.folder / "dying/starts.txt"
    before = starts.read_text()
    lines = [line.split(" ", 1)[1] for line in before.splitlines()]
    assert lines[0] == "step 0, 1 rank" and re.fullmatch("checkpoint of step [24]", lines[1]), before
    assert lines[2:] == 3 * ["step 4, 1 rank"], before
    told = runs.refuse(runs.command("dying", 2, "--resume"))
    assert re.fullmatch(r"error: dying\.yaml:\d+:\d+: run\.directory: the last 3 starts of this run all began at step 4 "
                        r"and none wrote a checkpoint; .* remove \S+/dying/starts\.txt to try again", told), told
    assert starts.read_text() == before
    starts.unlink()
    told = runs.train("dying", 2, 8, 6, every=2, more=("--resume",))
    assert "finished at step 6" in told, told
    assert re.search(r" step 4, 2 ranks\n\S+ checkpoint of step 6\n$", starts.read_text()), starts.read_text()


def fruitless_start(runs):
    """The same for jobs that die during their start, e.g. for lack of memory: at step 0, where only the line of the
    start exists, and at a checkpoint. Errors in the user's input do not count and leave no files."""
    nodes = ("--set", "optimizer.method=onebit_lamb", "--set", "optimizer.freeze.step=2", "--set", "comm.hierarchy=node",
             "--set", "comm.ranks_per_node=1")  # groups of ranks are created after the start is counted
    dies = preloaded(sys.argv[4], FAILING_CALL="MPI_Comm_split", FAILING_COUNT="1", FAILING_SIGNAL=str(int(signal.SIGKILL)))
    run = runs.folder / "unborn"
    shutil.copytree(runs.folder / "shards", runs.folder / "bad")
    for shard in (runs.folder / "bad").glob("*.h*5"):
        with h5py.File(shard, "r+") as file:
            file["input_ids"][:, 1] = runs.vocabulary + 5
    for step in (0, 4):
        runs.deck("unborn", 8, step + 4)
        command = [runs.program, "train", "unborn.yaml", "--resume", "--log", "lines", *nodes]
        refused = command + ["--set", "data.train=[bad]"]
        for start in range(3):
            runs.refuse(refused)
            assert run.exists() == (step > 0 or start > 0)
            runs.call(command, -signal.SIGKILL, **dies)
        before = (run / "starts.txt").read_text()
        assert before.count(f" step {step}, 1 rank\n") == 3, before
        told = runs.refuse(command)
        assert f"the last 3 starts of this run all began at step {step} and none wrote a checkpoint" in told, told
        assert (run / "starts.txt").read_text() == before
        (run / "starts.txt").unlink()
        assert f"finished at step {step + 4}" in runs.call(command)


def snapshots(runs):
    """checkpoint.asynchronous: false needs no memory for a copy of the state: the peak memory of the process (VmHWM) is
    lower by the bytes of its checkpoint."""
    most, shape = {}, ("--set", "model.vocabulary=200000", "--set", "batch.global=2", "--set", "statistics.evaluate_every=0")
    for asynchronous in ("true", "false"):
        runs.deck(asynchronous, 2, 6, every=2)
        command = [runs.program, "train", f"{asynchronous}.yaml", *shape, "--set", f"checkpoint.asynchronous={asynchronous}"]
        with subprocess.Popen(command, cwd=runs.folder, stdout=subprocess.DEVNULL) as job:
            _, status, used = os.wait4(job.pid, 0)
            job.returncode = os.waitstatus_to_exitcode(status)
        assert job.returncode == 0
        most[asynchronous] = used.ru_maxrss * 1024
    saved = sum(file.stat().st_size for file in (runs.folder / "false/checkpoints/step_6").glob("*.h5"))
    print(f"{saved / 2**20:.0f} MiB saved, at most {most['true'] / 2**20:.0f} and {most['false'] / 2**20:.0f} MiB")
    assert saved > 100_000_000 and 0.9 * saved < most["true"] - most["false"] < 1.1 * saved


if __name__ == "__main__":
    main(globals())
