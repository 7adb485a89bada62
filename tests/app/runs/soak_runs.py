# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests one long run in many jobs. Each has a random number of ranks and ends by a signal, a file, a kill or its last
step.

    soak_runs.py PROGRAM MPIRUN [--steps N] [--seed S]

Checks: The parameters, the state and the statistics equal, bit for bit, those of a second, undisturbed run. Its jobs
begin and end at the same steps as those of the first run. In one job of as many steps, from 10,000 on, no rank's memory
grows. The law of error feedback under resharding is tested by checkpoint_p* and compressed_allreduce_p*.

Exits with 4 (skipped for ctest) if h5py or NumPy is missing."""

import contextlib
import os
import re
import signal
import statistics
import subprocess
import time

from runs import PATIENCE, compare_checkpoints, kill_job, long_script, ranks_of

DECK = """
run: {directory: %s, seed: 7, verify_every: 50}
data: {train: [shards], heldout: []}
batch: {global: 12, micro: 4}
model: {vocabulary: %d, hidden: 32, layers: 2, heads: 2, feed_forward: 64, positions: 64}
optimizer: {method: onebit_lamb, lr: 0.01, beta2: 0.95, freeze: {step: %d}}
schedule: {steps: %d, warmup_steps: 10, decay: constant}
checkpoint: {every: 40, keep: 3}
statistics: {evaluate_every: 0, layers_every: 50, print_every: 1000000}
"""


def resident(process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1])


class Soak:
    def __init__(self, runs, steps, rng):
        self.runs, self.steps, self.rng = runs, steps, rng
        self.jobs = []  # (ranks, first step, step from which the next job began)
        self.counts = dict.fromkeys(("signal", "stop file", "kill", "last step", "other ranks"), 0)

    def deck(self, name):
        (self.runs.folder / f"{name}.yaml").write_text(DECK % (name, self.runs.vocabulary, self.steps // 10, self.steps))

    def command(self, name, ranks, last):
        launch = [] if ranks == 1 else self.runs.launch(ranks)
        return launch + [self.runs.program, "train", f"{name}.yaml", "--log", "lines", "--resume", "--set", f"schedule.steps={last}"]

    def newest(self, name):
        """Returns step and folder of the newest complete checkpoint; 0 if there is none."""
        found = [(int(path.name.removeprefix("step_")), path) for path in (self.runs.folder / name / "checkpoints").glob("step_*")
                 if re.fullmatch(r"step_\d+", path.name) and (path / "manifest").exists()]
        return max(found, default=(0, None))

    def finish(self, name, ranks, last):
        self.runs.call(self.command(name, ranks, last))

    def processes(self, job, ranks):
        try:
            return ranks_of(job, ranks)
        except (AssertionError, FileNotFoundError):
            return []  # not started yet, or ended

    def disturb(self, name, ranks):
        """Runs a job that ends at an intermediate step or the last one, or ends it."""
        how = self.rng.choice(("signal", "stop file", "kill", "last step"))
        self.counts[how] += 1
        if how == "last step":
            return self.finish(name, ranks, min(self.steps, self.newest(name)[0] + self.rng.randrange(1, 1 + min(400, self.steps // 4))))
        with subprocess.Popen(self.command(name, ranks, self.steps), cwd=self.runs.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, start_new_session=True) as job:
            until = time.time() + self.rng.uniform(1, 12)
            while time.time() < until and job.poll() is None:
                time.sleep(0.25)
            if job.poll() is None and how == "kill":
                kill_job(job, ranks)
            elif job.poll() is None and how == "stop file":
                (self.runs.folder / name / "stop").touch()
            elif job.poll() is None and (processes := self.processes(job, ranks)):
                os.kill(self.rng.choice(processes), signal.SIGUSR1)
            told = job.communicate(timeout=PATIENCE)[0]
        (self.runs.folder / name / "stop").unlink(missing_ok=True)  # if the job ended on its own meanwhile
        assert how == "kill" or job.returncode in (0, 85), (job.returncode, told)

    def run(self):
        self.deck("soak")
        while self.newest("soak")[0] < self.steps:
            ranks = self.rng.choice((1, 2, 2, 3))
            begin = self.newest("soak")[0]
            folder = self.newest("soak")[1]
            self.counts["other ranks"] += folder is not None and len(list(folder.glob("rank*.h5"))) not in (0, ranks)
            (self.runs.folder / "soak/starts.txt").unlink(missing_ok=True)  # repeated kills before a checkpoint are intended here
            self.disturb("soak", ranks)
            end = self.newest("soak")[0]
            if end > begin:
                self.jobs.append((ranks, begin, end))

    def replay(self):
        self.deck("replay")
        for ranks, begin, end in self.jobs:
            assert self.newest("replay")[0] == begin
            self.finish("replay", ranks, end)

    def growth(self):
        """Returns the growth of a rank's memory in one undisturbed job: the median of the last fifth over that of the
        second fifth, which is after the freeze."""
        self.deck("steady")
        early, late = [], []
        with subprocess.Popen(self.command("steady", 2, self.steps), cwd=self.runs.folder, stdout=subprocess.DEVNULL) as job:
            while job.poll() is None:
                time.sleep(0.1)
                fifth = 5 * self.newest("steady")[0] // self.steps
                if fifth in (1, 4) and (processes := self.processes(job, 2)):
                    with contextlib.suppress(FileNotFoundError, TypeError):  # ended, or about to end
                        (early if fifth == 1 else late).append([resident(process) for process in processes])
        assert job.returncode == 0 and early and late, (job.returncode, early, late)
        return max(statistics.median(after) / statistics.median(before) - 1 for before, after in zip(zip(*early), zip(*late)))

    def compare(self):
        (step, one), (same, other) = self.newest("soak"), self.newest("replay")
        assert step == same == self.steps
        self.runs.compare_record("soak", "replay", step, ("steps",))
        return compare_checkpoints(one, other)


def work(runs, steps, rng):
    soak = Soak(runs, steps, rng)
    started = time.time()
    soak.run()
    soak.replay()
    compared = soak.compare()
    print(f"{steps} steps in {len(soak.jobs)} jobs that got on ({', '.join(f'{n} {how}' for how, n in soak.counts.items())}), "
          f"{time.time() - started:.0f} s: {compared} data sets equal")
    if steps >= 10000:  # shorter runs still fill their buffers
        growth = soak.growth()
        print(f"{steps} steps in one job: the memory of a rank grew by {100 * growth:.2f} %")
        assert growth < 0.05, growth  # the pages that malloc keeps vary: 2 MB of 50


if __name__ == "__main__":
    long_script(__doc__, "steps", 20000, work)
