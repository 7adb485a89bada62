#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares tokens per second of whole training steps: `bellwether bench step` and PyTorch, in turn on one machine.

    step_beside_pytorch.py --program build/bellwether --peers PEERS [--python python3] [--models tiny,mini,small,base]
                           [--compute fp32,bf16] [--form 1x2] [--turns 3] [--scale 1] [--json OUT.jsonl]

--peers is a folder with two files. pytorch_bert_step.py makes a step of a BERT from PyTorch's parts (variants own and
own_bf16, dropout 0.1). pytorch_tuned_env.sh sets the environment, only for PyTorch. --python is a Python with torch. Forms:

    1x2  one process with two threads
    2x1  two ranks with one thread each, which exchange gradients; for PyTorch two independent processes at the same
         time. Each has its own core and all sequences of the model; speeds are added.
    1x1  one process with one thread

Both sides get the same OMP_NUM_THREADS, OMP_PROC_BIND and OMP_PLACES, which PyTorch's OpenMP also reads, the same
sequences of 128 tokens, and the same number of timed steps after 2: tiny 30 per turn, mini 16, small 10, base 8, times
--scale.

The speed of a turn is that of its median step. `ratio` is the median over turns of our speed over PyTorch's, with the
smallest and largest in brackets; `fastest` is the same for the fastest steps of all turns. `of a product` is our share of
the speed of a 512 x 512 x 512 product, as bench step reports it. `others` is the largest number of CPUs that other
processes used during PyTorch's steps: if it is not nearly 0, the row is invalid. --json appends a line per turn, with
all results of both sides.

Exits with 1 and the message of a process that fails. Our process fails if one of its checks does."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from launch import cores, keep, launched, results_file, told_by

LENGTH, MASKED, DROPOUT = 128, 20, 0.1
LEFT_OUT = 2  # steps, as in PyTorch's script
SEQUENCES = {"tiny": 32, "mini": 32, "small": 16, "base": 8}  # as in PyTorch's script
STEPS = {"tiny": 30, "mini": 16, "small": 10, "base": 8}
VARIANTS = {"fp32": "own", "bf16": "own_bf16"}
FORMS = {"1x2": (1, 2), "2x1": (2, 1), "1x1": (1, 1)}  # processes, threads per process


def tuned(script):
    """Returns the environment plus the variables that a shell script exports."""
    done = subprocess.run(["bash", "-c", 'source "$0" && env -0', script], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script}: exit {done.returncode}\n{done.stderr}")
    return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry)


class Turns:
    def __init__(self, options, folder):
        self.options = options
        self.processes, self.threads = FORMS[options.form]
        if self.processes * self.threads > len(cores()):
            sys.exit(f"--form {options.form}: there are {len(cores())} cores")
        self.places = cores()[: self.processes] if self.processes > 1 else [None]
        self.answer = pathlib.Path(folder) / "step.json"
        binding = {"OMP_NUM_THREADS": str(self.threads), "OMP_PROC_BIND": "spread" if self.threads > 1 else "close",
                   "OMP_PLACES": "cores"}
        self.ours_environment = dict(os.environ) | binding
        self.theirs_environment = tuned(str(options.peers / "pytorch_tuned_env.sh")) | binding
        version = [options.python, "-c", "import torch; print(torch.__version__)"]
        self.torch = told_by([version], self.theirs_environment)[0].strip()

    def ours(self, model, compute, steps):
        launcher = launched(self.options.mpirun, self.processes) if self.processes > 1 else []
        told_by([[*launcher, self.options.program, "bench", "step", "--model", model, "--compute", compute,
                  "--sequences", str(SEQUENCES[model]), "--length", str(LENGTH), "--masked", str(MASKED),
                  "--calls", str(steps), "--warmup", str(LEFT_OUT), "--json", str(self.answer)]], self.ours_environment)
        told = json.loads(self.answer.read_text(encoding="utf-8"))
        meant = {"ranks": self.processes, "threads_a_rank": self.threads}
        assert meant.items() <= told["machine"].items(), (meant, told["machine"])
        return told

    def theirs(self, model, compute, steps):
        """Returns a dictionary for each process."""
        command = [self.options.python, str(self.options.peers / "pytorch_bert_step.py"), model, VARIANTS[compute],
                   str(self.threads), str(DROPOUT), str(steps)]
        told = [json.loads(text.splitlines()[-1]) for text in
                told_by([command] * self.processes, self.theirs_environment, self.places)]
        meant = {"cfg": model, "thr": self.threads, "drop": DROPOUT, "batch": SEQUENCES[model], "seq": LENGTH, "n": steps}
        assert all(meant.items() <= process.items() for process in told), (meant, told)
        return told

    def run(self, model, compute):
        """Prints a row."""
        steps = max(1, round(self.options.scale * STEPS[model]))
        tokens = self.processes * SEQUENCES[model] * LENGTH
        ours, ours_fastest, theirs, theirs_fastest, shares, others = [], [], [], [], [], []
        for turn in range(self.options.turns):
            told, processes = self.ours(model, compute, steps), self.theirs(model, compute, steps)
            result = told["results"][0]
            ours.append(tokens / result["step_seconds"]["median"])
            ours_fastest.append(tokens / result["step_seconds"]["fastest"])
            theirs.append(sum(process["tok_s_med"] for process in processes))
            theirs_fastest.append(sum(process["tok_s_best"] for process in processes))
            shares.append(result["flops_per_second"] / result["product_flops_per_second"])
            # For a PyTorch process, `others` includes the processes that run next to it.
            others.append(max(0, max(process["foreign_cpus"] for process in processes) - (self.processes - 1)))
            keep(self.options.json, {
                "model": model, "compute": compute, "form": self.options.form, "turn": turn + 1, "steps": steps,
                "torch": self.torch, "ours": ours[-1], "pytorch": theirs[-1], "ours_fastest": ours_fastest[-1],
                "pytorch_fastest": theirs_fastest[-1], "product_share": shares[-1], "others": others[-1],
                "bench": told, "pytorch_processes": processes})
        of_turns = [one / other for one, other in zip(ours, theirs, strict=True)]
        ratio = statistics.median(of_turns)
        bounds = f" ({min(of_turns):.2f} to {max(of_turns):.2f})" if len(of_turns) > 1 else ""
        print(f"| {model}, {SEQUENCES[model]} sequences | {compute} | {speeds(ours)} | {speeds(theirs)} | {ratio:.2f}{bounds} | "
              f"{max(ours_fastest) / max(theirs_fastest):.2f} | {'; '.join(f'{100 * share:.0f}' for share in shares)} % | "
              f"{max(others):.2f} |", flush=True)


def speeds(turns):
    return "; ".join(f"{turn:,.0f}" for turn in turns)


def some_of(names):
    def chosen(text):
        words = text.split(",")
        if unknown := [word for word in words if word not in names]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r}; allowed: {', '.join(names)}, with commas between them")
        return words
    return chosen


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="folder with PyTorch's scripts")
    parser.add_argument("--python", default=sys.executable, help="a Python with torch")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--models", type=some_of(SEQUENCES), default=list(SEQUENCES))
    parser.add_argument("--compute", type=some_of(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--form", choices=FORMS, default="1x2", help="processes x threads per process")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="factor on the steps of a turn")
    parser.add_argument("--json", type=results_file, help="file to which lines of results are appended")
    options = parser.parse_args()
    for path in (options.program, options.peers / "pytorch_bert_step.py", options.peers / "pytorch_tuned_env.sh"):
        if not path.is_file():
            parser.error(f"{path}: no such file")
    if options.turns < 1:
        parser.error(f"--turns: {options.turns}; allowed: from 1 on")
    options.program = str(options.program.resolve())
    return options


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        turns = Turns(options, folder)
        print(f"{options.form}, processes x threads; PyTorch {turns.torch}\n")
        print("| | | ours, tokens/s | PyTorch | ratio | fastest | of a product | others |\n"
              "|---|---|---|---|---|---|---|---|", flush=True)
        for model in options.models:
            for compute in options.compute:
                turns.run(model, compute)


if __name__ == "__main__":
    main()
