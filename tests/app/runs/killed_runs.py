# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests one run whose jobs are killed with SIGKILL until N of them died while writing a checkpoint.

    killed_runs.py PROGRAM MPIRUN [--kills N] [--seed S]

Checks: The next job always resumes from the newest checkpoint, renamed or complete except for the rename. At most the
interval whose checkpoint was being written, and the steps since, are lost. At the end, parameters, state and statistics
equal those of an undisturbed run, bit for bit.

Exits with 4 (skipped for ctest) if h5py or NumPy is missing."""

import re
import subprocess
import time

from runs import PATIENCE, kill_job, long_script

EVERY = 5  # steps between checkpoints
SETTINGS = ("optimizer.method=onebit_lamb", "optimizer.freeze.step=50", "schedule.decay=constant", "schedule.warmup_steps=10",
            "statistics.evaluate_every=500", "statistics.layers_every=10", "statistics.print_every=1", f"checkpoint.every={EVERY}",
            "checkpoint.keep=3")


class Killed:
    def __init__(self, runs, rng):
        self.runs, self.rng = runs, rng
        self.kills, self.while_writing, self.most_lost, self.without_progress = 0, 0, 0, 0

    def options(self, *more):
        return [word for setting in (*SETTINGS, *more) for word in ("--set", setting)]

    def checkpoints(self, pattern=r"step_(\d+)"):
        folder = self.runs.folder / "killed/checkpoints"
        found = (re.fullmatch(pattern, path.name) for path in folder.iterdir()) if folder.exists() else ()
        return [int(match[1]) for match in found if match]

    def newest(self):
        return max(self.checkpoints(), default=0)

    def kill_one(self):
        newest = self.newest()
        (self.runs.folder / "killed/starts.txt").unlink(missing_ok=True)  # repeated kills before a checkpoint are intended here
        waits_for_write = self.rng.random() < 0.8
        moment = self.rng.uniform(0, 0.03) if waits_for_write else self.rng.uniform(0, 6)
        unnamed = left_over = self.checkpoints(r"step_(\d+)\.part")
        command = self.runs.command("killed", 2, "--resume", *self.options("schedule.steps=1000000"))
        with subprocess.Popen(command, cwd=self.runs.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as job:
            if waits_for_write:
                first = newest + EVERY * (1 + self.rng.randrange(4))
                while not (self.runs.folder / f"killed/checkpoints/step_{first}.part").exists() or first in left_over:
                    if self.newest() >= first:
                        first = self.newest() + EVERY  # already removed again
                        left_over = []
                    assert job.poll() is None, job.stdout.read()
                    time.sleep(0.001)
            time.sleep(moment)
            under_way = [step for step in self.checkpoints(r"step_(\d+)\.part") if step > self.newest()]
            kill_job(job, 2)
            told = job.communicate(timeout=PATIENCE)[0]
        assert "error: " not in told, told
        resumed = re.search(r"^resumed from \S*/step_(\d+)$", told.replace("\r", "\n"), re.MULTILINE)
        if newest and resumed:
            begun = int(resumed[1])
            assert begun == newest or begun > newest and begun in unnamed, (newest, unnamed, told)
        after = self.newest()
        steps = [int(step) for step in re.findall(r"^step (\d+)/", told, re.MULTILINE)]
        self.kills += 1
        self.while_writing += bool(under_way)
        self.without_progress += after == newest
        self.most_lost = max(self.most_lost, steps[-1] - after if steps else 0)
        assert self.most_lost < 2 * EVERY, (after, told)

    def compare(self):
        last = self.newest() + 2 * EVERY
        told = self.runs.call(self.runs.command("killed", 2, "--resume", *self.options(f"schedule.steps={last}")))
        assert "resumed from" in told, told
        self.runs.deck("whole", 8, last)
        self.runs.call(self.runs.command("whole", 2, *self.options(f"schedule.steps={last}")))
        self.runs.compare("whole", "killed", last)
        return last


def work(runs, kills, rng):
    runs.deck("killed", 8, 1000000)
    killed = Killed(runs, rng)
    started = time.time()
    while killed.while_writing < kills:
        killed.kill_one()
    last = killed.compare()
    print(f"{killed.kills} kills, {killed.while_writing} of them while a checkpoint was written, {killed.without_progress} before "
          f"one was complete; {last} steps, {time.time() - started:.0f} s: at most {killed.most_lost} steps done again, none "
          "lost, and the end is that of the run that nothing happened to")


if __name__ == "__main__":
    long_script(__doc__, "kills", 200, work)
