#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures training on links of a given rate: step times of 1-bit LAMB and LAMB, bytes on the wire, and the dense mean alone.

    sweep.py PROGRAM [--model mini] [--rates 20,100,500,2000] [--wires fp32,bf16] [--ranks 4] [--batch 4] [--steps 5]
             [--calls 3] [--json OUT.jsonl] [--set KEY=VALUE]...

Each host of network.py runs one rank with one thread, over TCP, without dropout. Rates are in Mbit/s; the first one is
always 0, no limit. Needs root and an otherwise idle machine.

Each rate and wire type is one run of two phases. Each phase skips 2 steps and measures --steps steps (medians). "end to end"
is the speedup of w dense + (1 - w) compressed over all dense steps, with w = 1000/5993, the paper's share of dense steps.
"expected" is 1 / (w + (1 - w) / s) with s = (C + A) / (C + A / k + o). C is the step time of P concurrent runs of one rank,
which exchange nothing; A = dense - C; k = 32 or 16; o is the excess of a compressed step over C + A / k without a limit.
"forecast" is the step time of each phase predicted by `check --cluster`, with the speeds that it measures on all ranks at
once, and the payload of full frames at this rate.

"wire over count" is a quotient. The numerator is the payload that the interfaces of all hosts counted in the measured steps,
without TCP retransmissions. The denominator is P times the bytes that the program reports for rank 0. Retransmissions follow
in brackets, in percent of the denominator, if there are any. They include segments that a full link dropped before its
interface counted them; the quotient may be too small by that amount. All ranks send the same number of bytes, except in dense
means (also of scalars): a rank sends n + (P - 2) c of n elements, where its chunk c is n / P, rounded down on rank 0. Other
ranks may thus send up to 4 (P - 2) bytes more. The program prints a step's line after all exchanges of the step.

The last table shows the dense exchange. "bound": time of a link for 2 (P - 1) / P of the gradients' bytes in full frames.
"mean": time of the ordered mean of as many elements as the model has parameters, alone, with all segments available. `bench
collectives` measures it on the slowest rank (median of --calls calls after a warmup call). It is omitted below 100 Mbit/s,
where all kinds of means would take longer than the steps. "exposed": dense - C, the part of the exchange that does not
overlap with the backward pass. An idle limited link passes BURST bytes at once: a short mean may be faster than its bound."""

import argparse
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app/runs"))
from network import FRAME_OVERHEAD, MOST_HOSTS, SEGMENT, missing, network, started  # noqa: E402
from runs import Runs, h5py, np  # noqa: E402

DECKS = pathlib.Path(__file__).resolve().parents[2] / "input/decks"
LEFT_OUT = 2  # skipped steps per phase
LEAST_FOR_MEANS = 100  # Mbit/s
DENSE_SHARE = 1000 / 5993
BITS = {"fp32": 32, "bf16": 16}
PAYLOAD = SEGMENT / (SEGMENT + FRAME_OVERHEAD)  # share of a full frame
PHASES = ("dense", "compressed")
SECONDS = {"s": 1, "ms": 1e-3, "us": 1e-6}


def deck_settings(options, name, shards, ranks, method, wire, more):
    settings = {"run.directory": name, "data.train": f"[{shards}]", "data.heldout": "[]", "batch.global": ranks * options.batch,
                "batch.micro": options.batch, "model.positions": 128, "model.hidden_dropout": 0, "model.attention_dropout": 0,
                "optimizer.method": method, "comm.dense_wire": wire,
                "schedule.steps": 2 * options.phase_steps, "schedule.warmup_steps": 2, "checkpoint.every": 0,
                "statistics.evaluate_every": 0, "statistics.layers_every": 1000, "statistics.print_every": 1}
    if method == "onebit_lamb":
        settings |= {"optimizer.freeze.step": options.phase_steps, "optimizer.beta2": 0.9, "optimizer.coefficient_beta": 0.5}
    settings |= more | (dict(text.split("=", 1) for text in options.set) if method == "onebit_lamb" else {})
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def step_table(folder, name):
    with h5py.File(folder / name / "statistics.h5", "r") as file:
        return file["steps"][:]


class Sweep:
    def __init__(self, options, net, runs):
        self.options, self.net, self.runs = options, net, runs
        self.shards = runs.folder / "wide"
        runs.call([options.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", "wide", "--sequence-length", "128"])
        self.made = 0

    def command(self, ranks, method, wire, more):
        self.made += 1
        name = f"run{self.made}"
        words = [self.options.program, "train", str(DECKS / f"{self.options.model}.yaml"), "--log", "lines",
                 *deck_settings(self.options, name, self.shards, ranks, method, wire, more)]
        return name, words

    def compute_alone(self):
        """Returns the seconds of a step without exchange, from concurrent runs of one rank on every host."""
        jobs = []
        with contextlib.ExitStack() as all_jobs:
            for host in self.net.hosts:
                name, words = self.command(1, "lamb", "fp32", {})
                command, environment = self.net.command(words, [host])
                jobs.append((name, all_jobs.enter_context(started(command, cwd=self.runs.folder, env=environment, text=True,
                                                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))))
            for name, job in jobs:
                told = job.communicate(timeout=self.options.patience)[1]
                assert job.returncode == 0, (name, told)
        return statistics.median(float(np.median(step_table(self.runs.folder, name)["step_seconds"][LEFT_OUT:])) for name, _ in jobs)

    def call(self, words, hosts=None):
        """Runs a command with one rank on each of `hosts` and returns its output."""
        command, environment = self.net.command(words, hosts)
        done = subprocess.run(command, cwd=self.runs.folder, env=environment, capture_output=True, text=True, check=False,
                              timeout=self.options.patience)
        assert done.returncode == 0, f"{command}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def measure(self, wire):
        """Returns the seconds of a dense and of a compressed step, and the traffic of the measured steps of each phase:
        payload bytes per host, those that TCP retransmitted, and the bytes that rank 0 counted."""
        name, words = self.command(len(self.net.hosts), "onebit_lamb", wire, {})
        command, environment = self.net.command(words)
        ends = [phase * self.options.phase_steps + more for phase in (0, 1) for more in (LEFT_OUT, self.options.phase_steps)]
        sent = {}  # step -> bytes and retransmitted bytes of every host after it
        with started(command, cwd=self.runs.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     text=True) as job:
            told = []
            alarm = threading.Timer(self.options.patience, job.terminate)
            alarm.daemon = True
            alarm.start()
            for line in job.stdout:
                told.append(line)
                if (step := re.match(r"step (\d+)/", line)) and int(step[1]) in ends:
                    sent[int(step[1])] = np.array(self.net.sent_by_all())
            alarm.cancel()
        assert job.returncode == 0, "".join(told)
        steps = step_table(self.runs.folder, name)
        seconds, traffic = [], []
        for phase in range(len(PHASES)):
            last = (phase + 1) * self.options.phase_steps
            first = last - self.options.steps + 1
            rows = steps[(steps["step"] >= first) & (steps["step"] <= last)]
            assert len(rows) == self.options.steps and (rows["phase"] == phase).all(), rows
            seconds.append(float(np.median(rows["step_seconds"])))
            carried, again = (sent[last] - sent[first - 1]).T.tolist()
            traffic.append({"carried": carried, "again": again, "counted": int(rows["sent_bytes"].sum())})
        return seconds, traffic

    def means(self, parameters, rate):
        """Returns the seconds of the ordered mean over all ranks by wire type; empty if not measured."""
        if self.options.calls == 0 or 0 < rate < LEAST_FOR_MEANS:
            return {}
        self.call([self.options.program, "bench", "collectives", "--elements", parameters, "--calls", self.options.calls,
                   "--warmup", 1, "--json", "collectives.json"])
        rows = json.loads((self.runs.folder / "collectives.json").read_text(encoding="utf-8"))["results"]
        by_name = {row["collective"]: row["latency_seconds"]["median"] for row in rows}
        return {wire: by_name[f"dense mean, {wire}"] for wire in BITS}

    def bound(self, parameters, rate, wire):
        """Returns the seconds of a link for the minimum that each rank must send for a mean."""
        ranks = len(self.net.hosts)
        return 2 * (ranks - 1) / ranks * parameters * BITS[wire] / (PAYLOAD * rate * 1e6)

    def check(self, cluster, wire, ranks):
        """Returns the output of `check` for a cluster with one rank per node, run on `ranks` ranks here."""
        (self.runs.folder / "cluster.yaml").write_text(
            "\n".join(f"{section}: {{{', '.join(keys)}}}" for section, keys in cluster.items()), encoding="utf-8")
        words = [self.options.program, "check", str(DECKS / f"{self.options.model}.yaml"), "--cluster", "cluster.yaml",
                 *deck_settings(self.options, "unmade", self.shards, len(self.net.hosts), "onebit_lamb", wire, {})]
        return self.call(words, self.net.hosts[:ranks])

    def size_and_speeds(self):
        """Returns the number of parameters and the cluster keys of a rank's speeds while all ranks run. Call without limits."""
        text = self.check({"network": ["bandwidth: 1"], "nodes": ["ranks: 1"]}, "fp32", len(self.net.hosts))
        speeds = [f"{key}: {float(re.search(rf'{word} of a rank +([0-9.e+]+) ', text)[1])!r}"
                  for key, word in (("compute", "compute"), ("memory", "memory"))]
        return int(re.search(r"^ *parameters +(\d+) in \d+ tensors", text, re.MULTILINE)[1]), speeds

    def forecast(self, speeds, rate, wire):
        """Returns the predicted seconds of a dense and of a compressed step on links of that rate."""
        ranks = len(self.net.hosts)
        text = self.check({"network": [f"bandwidth: {PAYLOAD * rate / 1000}"], "nodes": ["ranks: 1"],
                           "ranks": [f"most: {ranks}", *speeds]}, wire, 1)
        table = text[text.index("on cluster.yaml"):]
        row = next(line for line in table.splitlines() if line.split()[:2] == [str(ranks)] * 2)
        seconds = [float(number) * SECONDS[unit] for number, unit in re.findall(r"([0-9.]+) (s|ms|us)\b", row)]
        assert len(seconds) == 7, row
        return seconds[3], seconds[6]

    def whole(self, wire, phases, keep, steps=60, dense=10):
        """Measures whole runs of LAMB and of 1-bit LAMB, with one sixth dense steps, and compares them with the prediction
        from `phases`, the step times of measure()."""
        total = []
        for method in ("lamb", "onebit_lamb"):
            freeze = {"optimizer.freeze.step": dense} if method == "onebit_lamb" else {}
            name, words = self.command(len(self.net.hosts), method, wire, {"schedule.steps": steps} | freeze)
            self.call(words)
            total.append(step_table(self.runs.folder, name))
        plain, onebit = (float(table["step_seconds"].sum()) for table in total)
        composed = [steps * phases[0], dense * phases[0] + (steps - dense) * phases[1]]
        keep({"model": self.options.model, "ranks": len(self.net.hosts), "megabits": self.options.whole, "wire": wire, "steps": steps,
              "dense_steps": dense, "whole": [plain, onebit], "composed": composed})
        print(f"\n{steps} steps, {dense} of them dense in {wire}: LAMB {plain:.1f} s, 1-bit LAMB {onebit:.1f} s, {plain / onebit:.2f} "
              f"times as fast; composed of the phases above {composed[0]:.1f} s and {composed[1]:.1f} s, "
              f"{composed[0] / composed[1]:.2f} times", flush=True)

    def run(self, keep):
        alone = self.compute_alone()
        samples = self.options.batch * len(self.net.hosts)
        print(f"{self.options.model}, {len(self.net.hosts)} ranks of {self.options.batch} sequences: without an exchange "
              f"{1e3 * alone:.0f} ms a step, {samples / alone:.1f} sequences/s\n")
        print("| Mbit/s | wire | dense | compressed | sequences/s, dense | compressed | end to end | expected | wire over count, dense | "
              "compressed | forecast, dense | compressed |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
        parameters, speeds = self.size_and_speeds()
        overhead = {}  # by wire type, measured without a limit
        phases = {}  # (rate, wire) -> step seconds
        exchanges = []  # rows of the last table
        whole = self.options.whole
        for rate in [0, *sorted({*self.options.rates, *([] if whole is None else [whole])} - {0}, reverse=True)]:
            self.net.limit(rate)
            means = self.means(parameters, rate)
            for wire in self.options.wires:
                (dense, compressed), traffic = self.measure(wire)
                phases[rate, wire] = dense, compressed
                exposed = max(0.0, dense - alone)
                extra = overhead.setdefault(wire, compressed - alone - exposed / BITS[wire])
                gain = dense / (DENSE_SHARE * dense + (1 - DENSE_SHARE) * compressed)
                expected = 1 / (DENSE_SHARE + (1 - DENSE_SHARE) * (alone + exposed / BITS[wire] + extra) / dense)
                forecast = self.forecast(speeds, rate, wire) if rate else None
                bound = self.bound(parameters, rate, wire) if rate else None
                exchanges.append((rate, wire, bound, means.get(wire), exposed))
                keep({"model": self.options.model, "ranks": len(self.net.hosts), "batch": self.options.batch, "megabits": rate,
                      "wire": wire, "alone": alone, "dense": dense, "compressed": compressed, "end_to_end": gain,
                      "expected": expected, "traffic": dict(zip(PHASES, traffic)), "forecast": forecast,
                      "parameters": parameters, "bound": bound, "mean": means.get(wire), "exposed": exposed})
                print(f"| {rate or 'no limit'} | {wire} | {dense:.3f} s | {compressed:.3f} s | {samples / dense:.2f} | "
                      f"{samples / compressed:.2f} | {gain:.2f} | {expected:.2f} | "
                      f"{over_count(traffic[0])} | {over_count(traffic[1])} | "
                      + (" | ".join(f"{seconds:.3f} s" for seconds in forecast) if forecast else " | ") + " |", flush=True)
        print(f"\nThe dense exchange of {parameters} parameters:\n\n"
              "| Mbit/s | wire | bound | mean | over bound | exposed | over bound |\n|---|---|---|---|---|---|---|")
        for rate, wire, bound, *seconds in exchanges:
            cells = " | ".join(over_bound(one, bound) for one in seconds)
            print(f"| {rate or 'no limit'} | {wire} | {in_seconds(bound)} | {cells} |", flush=True)
        if whole is not None:
            self.net.limit(whole)
            for wire in self.options.wires:
                self.whole(wire, phases[whole, wire], keep)


def over_count(traffic):
    counted = len(traffic["carried"]) * traffic["counted"]
    again = sum(traffic["again"]) / counted
    return f"{sum(traffic['carried']) / counted - again:.3f}" + (f" ({100 * again:.1f})" if again >= 0.0005 else "")


def in_seconds(seconds):
    return "" if seconds is None else f"{seconds:.3f} s"


def over_bound(seconds, bound):
    """Returns two table cells: the seconds, and their ratio to the bound."""
    return f"{in_seconds(seconds)} | " + ("" if None in (seconds, bound) else f"{seconds / bound:.2f}")


def megabits(text):
    try:
        rates = [int(rate) for rate in text.split(",")]
    except ValueError:
        rates = [-1]
    if min(rates) < 0:
        raise argparse.ArgumentTypeError(f"{text}; allowed: comma-separated whole numbers of Mbit/s, e.g. 20,100; 0: no limit")
    return rates


def between(least, most):
    def number(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}; allowed: {least} to {most}")
        return int(text)
    return number


def parse(words=None):
    """Parses a command line; default: that of this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--model", default="mini", choices=sorted(deck.stem for deck in DECKS.glob("*.yaml")))
    parser.add_argument("--rates", type=megabits, default=[20, 100, 500, 2000])
    parser.add_argument("--wires", default="fp32,bf16")
    parser.add_argument("--ranks", type=between(2, MOST_HOSTS), default=4)
    parser.add_argument("--batch", type=between(1, 4096), default=4, help="sequences per rank")
    parser.add_argument("--steps", type=between(1, 10000), default=5, help="measured steps per phase")
    parser.add_argument("--calls", type=between(0, 10000), default=3, help="calls of the means alone; they take longer than the "
                        "steps, because the bench also times other means; 0: none")
    parser.add_argument("--whole", type=between(0, 1000000), metavar="RATE", help="adds a rate, and at the end runs 60 steps of LAMB and of "
                        "1-bit LAMB at this rate with each wire type")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="sets a key of the 1-bit LAMB decks")
    parser.add_argument("--json", type=pathlib.Path, help="appends results as JSON lines to this file")
    parser.add_argument("--patience", type=float, default=3600, help="time limit of a run in seconds")
    options = parser.parse_args(words)
    if not options.program.is_file():
        parser.error(f"{options.program}: no such program")
    options.program = str(options.program.resolve())
    options.phase_steps = LEFT_OUT + options.steps
    options.wires = options.wires.split(",")
    if unknown := [wire for wire in options.wires if wire not in BITS]:
        parser.error(f"--wires: {unknown[0]}; allowed: {', '.join(BITS)}")
    if options.json:
        try:
            options.json.open("a", encoding="utf-8").close()
        except OSError as error:
            parser.error(f"--json: {options.json}: {error.strerror}")
    return options


def main():
    options = parse()
    if reason := missing():
        print(f"skipped: {reason}")
        sys.exit(4)

    def keep(line):
        if options.json:
            with open(options.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    with tempfile.TemporaryDirectory() as folder, network(options.ranks) as net:
        Sweep(options, net, Runs(options.program, "mpirun", folder)).run(keep)


if __name__ == "__main__":
    main()
