# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of tests of whole runs: a folder with shards, starting the program and its ranks, comparing results.

Importing it exits with 4 (skipped for ctest) if h5py or NumPy is missing."""

import argparse
import glob
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

PATIENCE = 600  # seconds; no test depends on speed
WALL_CLOCK = {"tokens_per_second", "wall_seconds", "step_seconds", "wait_data_seconds", "wait_ranks_seconds"}

DECK = """
run: {directory: %(directory)s, seed: 3}
data: {train: [shards], heldout: [shards/heldout]}
batch: {global: 32, micro: %(micro)d}
model: {vocabulary: %(vocabulary)d, hidden: 64, layers: 2, heads: 2, feed_forward: 256, positions: 64}
optimizer: {method: lamb, lr: 0.02, beta2: 0.99, clip: 1.0}
schedule: {steps: %(steps)d, warmup_steps: %(warmup)d, decay: linear}
checkpoint: {every: %(every)d, keep: 0}
statistics: {evaluate_every: 20, evaluate_sequences: 64, layers_every: 2, flush: 4}
"""


SHARES = {"worker_error_share", "server_error_share", "sign_agreement"}
ONEBIT = {"weight_norm", "update_norm", "momentum_norm", "largest_update", *SHARES}
LAYERS = {"adamw": set(), "sgd": set(), "lamb": {"trust_ratio", "weight_norm", "update_norm"},
          "onebit_lamb": {"trust_ratio", "average", "factor", "root_growth", *ONEBIT},
          "onebit_adam": {"root_growth", *ONEBIT}, "onebit_sgd": ONEBIT}  # quantities of each method


def sentences(rng, count):
    """Returns text with structure to learn: each word is mostly followed by one of two words."""
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(2 + i % 3)) for i in range(160)]
    following = [(rng.randrange(160), rng.randrange(160)) for _ in words]
    for _ in range(count):
        word = rng.randrange(160)
        line = []
        for _ in range(rng.randrange(6, 15)):
            line.append(words[word])
            word = following[word][rng.random() < 0.4] if rng.random() < 0.95 else rng.randrange(160)
        yield " ".join(line) + "."


class Runs:
    """A folder with shards and the program's runs on them."""

    def __init__(self, program, mpirun, folder):
        self.program, self.mpirun, self.folder = program, mpirun, pathlib.Path(folder)
        tests = pathlib.Path(program).resolve().parent / "tests"  # of a build folder
        if tests.is_dir():
            shutil.copytree(self.prepared_once(tests), self.folder, dirs_exist_ok=True)
        else:
            self.prepare(self.folder)
        self.vocabulary = len((self.folder / "vocab.txt").read_text().splitlines())

    def prepare(self, folder):
        rng = random.Random(5)
        documents = [" ".join(sentences(rng, 12)) for _ in range(900)]
        text = "\n\n".join("\n".join(d.replace(". ", ".\n").split("\n")) for d in documents)
        (folder / "text.txt").write_text(text + "\n")
        self.call([self.program, "prepare", "text.txt", "--train-vocab", "400", "--vocab", "vocab.txt", "--out", "shards",
                   "--sequence-length", "64", "--heldout", "0.1"], cwd=folder)

    def prepared_once(self, tests):
        """Returns a folder with text, vocabulary and shards. The first test of each build that needs it creates it."""
        ready = tests / f"prepared-{os.stat(self.program).st_mtime_ns}"
        if not ready.exists():
            with tempfile.TemporaryDirectory(prefix="preparing-", dir=tests) as own:
                made = pathlib.Path(own) / "made"
                made.mkdir()
                self.prepare(made)
                for older in tests.glob("prepared-*"):
                    shutil.rmtree(older, ignore_errors=True)
                try:
                    made.rename(ready)
                except OSError:
                    assert ready.exists()  # another test was faster
        return ready

    def call(self, command, expected=0, cwd=None, **environment):
        done = subprocess.run(command, cwd=cwd or self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=dict(os.environ, **environment))
        assert done.returncode == expected, f"{command}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def has_openmpi_4(self):
        """mpirun calls itself Open MPI, mpiexec OpenRTE."""
        return re.search(r"\((Open MPI|OpenRTE)\) 4\.", self.call([self.mpirun, "--version"])) is not None

    def deck(self, name, micro, steps, every=0):
        values = dict(directory=name, micro=micro, steps=steps, every=every, warmup=max(2, steps // 10),
                      vocabulary=self.vocabulary)
        (self.folder / f"{name}.yaml").write_text(DECK % values)

    def launch(self, ranks):
        return [self.mpirun, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]

    def command(self, name, ranks, *more):
        return self.launch(ranks) + [self.program, "train", f"{name}.yaml", "--log", "lines", *more]

    def train(self, name, ranks, micro, steps, every=0, more=(), expected=0, **environment):
        self.deck(name, micro, steps, every)
        return self.call(self.command(name, ranks, *more), expected, **environment)

    def stop(self, command, send, after=1, **environment):
        """Calls send(job) when step `after` was printed. Returns the job's output after that and its exit code."""
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True, start_new_session=True,
                              env=dict(os.environ, **environment)) as job:
            for line in job.stdout:
                if (told := re.match(r"step (\d+)/", line)) and int(told[1]) >= after:
                    break
            send(job)
            return job.stdout.read(), job.wait(timeout=PATIENCE)

    def refuse(self, command, expected=2, **how):
        """Returns the output of a failing command: one or more errors and no other error line."""
        done = subprocess.run(command, cwd=self.folder, stdout=how.pop("stdout", subprocess.PIPE), text=True, check=False,
                              stderr=subprocess.PIPE, timeout=PATIENCE, env=dict(os.environ, **how))
        assert done.returncode == expected, f"{command}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        assert errors, done.stderr
        return "\n".join(errors)

    def parameters(self, name):
        with h5py.File(next((self.folder / name / "checkpoints").glob("step_*")) / "replicated.h5", "r") as file:
            return sum(tensor.size for tensor in file["parameters"].values())

    def table(self, name, table="steps"):
        with h5py.File(self.folder / name / "statistics.h5", "r") as file:
            return file[table][:]

    def go_back(self, name, step):
        """Restores the state of a run right after its checkpoint of that step."""
        checkpoints = self.folder / name / "checkpoints"
        assert (checkpoints / f"step_{step}").is_dir(), sorted(checkpoints.iterdir())
        for folder in checkpoints.glob("step_*"):
            if int(folder.name[5:]) > step:
                shutil.rmtree(folder)

    def copy(self, name, source, step):
        """Creates another run in the state of `source` after that step."""
        shutil.copytree(self.folder / source, self.folder / name)
        self.go_back(name, step)

    def compare_table(self, one, other, table, step):
        a, b = self.table(one, table), self.table(other, table)
        a, b = a[a["step"] <= step], b[b["step"] <= step]
        assert len(a) == len(b) > 0, (table, len(a), len(b))
        for column in set(a.dtype.names) - WALL_CLOCK:
            assert a[column].tobytes() == b[column].tobytes(), (table, column, a[column], b[column])

    def method(self, name):
        return re.search(r"^  method: (\w+)", (self.folder / name / "deck.resolved.yaml").read_text(), re.MULTILINE)[1]

    def compare_layers(self, one, other, step):
        with h5py.File(self.folder / one / "statistics.h5", "r") as a, \
                h5py.File(self.folder / other / "statistics.h5", "r") as b:
            ours, theirs = a["layers"], b["layers"]
            wanted = LAYERS[self.method(one)] | {"name", "step"}
            assert set(ours) == set(theirs) == wanted, (list(ours), list(theirs))
            assert (ours["name"][:] == theirs["name"][:]).all()
            shown = [layers["step"][:] <= step for layers in (ours, theirs)]
            assert shown[0].any()
            for name in set(ours) - {"name"}:
                assert ours[name][:][shown[0]].tobytes() == theirs[name][:][shown[1]].tobytes(), name

    def compare_record(self, one, other, step, tables=("steps", "evaluation")):
        """Compares the records of both runs up to a step, and their total traffic."""
        for table in tables:
            self.compare_table(one, other, table, step)
        self.compare_layers(one, other, step)
        sent = [self.table(name, "traffic") for name in (one, other)]
        assert len(sent[0]) > 0 and sent[0].tobytes() == sent[1].tobytes(), sent

    def compare(self, one, other, step, files="*.h5"):
        """Compares statistics and the checkpoint of `step`, bit for bit except times."""
        self.compare_record(one, other, step)
        compare_checkpoints(*(self.folder / name / f"checkpoints/step_{step}" for name in (one, other)), files)


def compare_checkpoints(one, other, files="*.h5"):
    """Compares two folders, bit for bit except the deck and times. Returns the number of compared data sets."""
    names = sorted(path.name for path in one.glob(files))
    assert names == sorted(path.name for path in other.glob(files)) and "replicated.h5" in names, (names, other)
    compared = []
    for name in names:
        with h5py.File(one / name, "r") as a, h5py.File(other / name, "r") as b:
            held = []
            a.visititems(lambda path, item, to=held: to.append(path) if isinstance(item, h5py.Dataset) else None)
            for path in set(held) - {"deck", "data/wall_seconds"}:
                ours, theirs = np.asarray(a[path][()]), np.asarray(b[path][()])
                # Texts are pointers: compares what they point to.
                equal = ours.tolist() == theirs.tolist() if ours.dtype == object else ours.tobytes() == theirs.tobytes()
                assert equal, (name, path)
                compared.append(path)
    assert sum(path.startswith("parameters/") for path in compared) > 30, compared
    return len(compared)


def preloaded(module, **settings):
    """Returns the environment for a program with a preloaded library."""
    # The address sanitizer must be loaded first; only a library that forwards calls to it may precede it.
    sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
    return dict(LD_PRELOAD=module, ASAN_OPTIONS=sanitizer, **settings)


def newest_checkpoint(run):
    return max((run / "checkpoints").glob("step_*[0-9]"), key=lambda path: int(path.name[5:]))


def ranks_of(process, ranks):
    """Returns the process numbers of the program, whichever thread of the launcher started them."""
    if ranks == 1:
        return [process.pid]
    lists = (open(path, encoding="ascii").read() for path in glob.glob(f"/proc/{process.pid}/task/*/children"))
    found = [int(word) for text in lists for word in text.split()]
    assert len(found) == ranks, found
    return found


def kill_job(job, ranks):
    """Sends SIGKILL to a launcher in its own session and to its ranks, started or not."""
    try:
        for process in ranks_of(job, ranks):
            os.kill(process, signal.SIGKILL)
    except (AssertionError, FileNotFoundError, ProcessLookupError):
        pass  # not started yet, or ended
    os.killpg(job.pid, signal.SIGKILL)


def long_script(doc, amount, default, work):
    """Reads the command line of a script for manual use: PROGRAM MPIRUN [--AMOUNT N] [--seed S]. Calls work(runs, n,
    rng)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("mpirun")
    parser.add_argument(f"--{amount}", type=int, default=default, dest="amount")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work(Runs(os.path.abspath(options.program), options.mpirun, folder), options.amount, random.Random(options.seed))


def main(cases):
    case, program, mpirun = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        cases[case](Runs(program, mpirun, folder))
