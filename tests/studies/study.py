#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trains one model in several variants with the same seeds, and records the held-out loss of each run.

    python3 tests/studies/study.py PLAN.yaml --shards DIR --work DIR [--program build/bellwether]
                                   [--hours H] [--only VARIANT ...] [--seeds SEED ...] [--list]

A plan names a deck, settings for all runs, the number of ranks, the seeds, and the variants with their settings. The
script runs all variants of one seed, then those of the next, so that pairs are complete early. After an interrupt (Ctrl-C,
SIGTERM, --hours, a crash), the same command resumes an unfinished run from its newest checkpoint. It does not repeat
finished runs. Each finished run becomes a line of PLAN.jsonl, beside the plan: variant, seed, ranks, settings, the
resolved deck, the fingerprint of the shards, the program and its build, held-out losses, and the bytes that rank 0 sent.

If `ranks` of a variant is a list, the run is stopped and resumed with another number of ranks, like a sequence of jobs.
Each number trains an equal share of the steps. A job ends a few steps late; its log records the step.

A table never mixes two experiments. The script rejects a line if
- its settings, ranks or deck differ from those of the plan and its deck now;
- its deck differs from another line's in a key that neither variant sets, for example after a change of a default;
- its shards differ from another line's.
An unfinished run resumes only with the settings, ranks, deck and shards of its start. If another plan of the same folder has
finished the same run (deck, settings, ranks, shards and program), the script copies its line.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py
import yaml


class Stop(Exception):
    """The time limit is reached, or a signal requests the end."""


def flat(settings, prefix=""):
    """Returns nested settings as {"section.key": text}."""
    result = {}
    for key, value in settings.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            result |= flat(value, name + ".")
        else:
            result[name] = json.dumps(value) if isinstance(value, (list, bool)) else str(value)
    return result


def same(a, b):
    """Returns True if two values of a deck are equal, as text or as numbers: 1.0e-3 equals 0.001."""
    try:
        return float(a) == float(b)
    except ValueError:
        return a == b


def read_lines(path):
    """Returns the lines of a file of results, without an incomplete last line after a crash."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.rpartition("\n")[0].splitlines()]


class Plan:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        plan = yaml.safe_load(self.path.read_text(encoding="utf-8"))
        self.deck = (self.path.parent / plan.pop("deck")).resolve()
        self.ranks = plan.pop("ranks")
        self.seeds = plan.pop("seeds")
        self.common = flat(plan.pop("settings"))
        self.variants = {name: flat(settings or {}) for name, settings in plan.pop("variants").items()}
        self.own_ranks = {name: json.loads(settings.pop("ranks")) for name, settings in self.variants.items() if "ranks" in settings}
        self.about = plan.pop("about")
        self.pairs = plan.pop("pairs", [])
        self.contrasts = plan.pop("contrasts", [])
        if plan:
            sys.exit(f"{path}: unknown: {', '.join(plan)}; allowed: about, deck, ranks, seeds, settings, variants, pairs, contrasts")
        self.results_file = self.path.with_suffix(".jsonl")

    def ranks_of(self, variant):
        """Returns the number of ranks of a variant, or a list with one number per job."""
        return self.own_ranks.get(variant, self.ranks)

    def settings(self, variant, seed):
        return self.common | self.variants[variant] | {"run.seed": str(seed)}

    def differing(self, line):
        """Returns the keys in which a line's deck differs from the plan and its deck now."""
        wanted = resolved(self.deck) | self.settings(line["variant"], line["seed"])
        return sorted(key for key in wanted.keys() & line["deck"].keys() if not same(wanted[key], line["deck"][key]))

    def results(self):
        """Returns {(variant, seed): line} of the finished runs. Exits if lines contradict the plan or each other."""
        found = {(line["variant"], line["seed"]): line for line in read_lines(self.results_file)}
        known = [line for line in found.values() if line["variant"] in self.variants]
        for line in known:
            who = f"{self.results_file}: {line['variant']}, seed {line['seed']} was run with"
            if line["settings"] != self.settings(line["variant"], line["seed"]) or self.differing(line):
                sys.exit(f"{who} other settings than {self.path} and its deck have now"
                         f"{': ' * bool(self.differing(line))}{', '.join(self.differing(line))}; give the changed variant "
                         "another name, or delete that line")
            if line["ranks"] != self.ranks_of(line["variant"]):
                sys.exit(f"{who} {line['ranks']} ranks, {self.path} has {self.ranks_of(line['variant'])} now; delete that line")
            for other in known:
                # Keys that only one line has are ignored: they are newer than the other line, or do not apply to it.
                own = self.variants[line["variant"]].keys() | self.variants[other["variant"]].keys()
                keys = sorted(key for key in (line["deck"].keys() & other["deck"].keys()) - own
                              if line["deck"][key] != other["deck"][key])
                if line.get("shards", other.get("shards")) != other.get("shards", line.get("shards")):
                    keys.append("shards")
                if keys:
                    sys.exit(f"{who} other {', '.join(keys)} than {other['variant']}, seed {other['seed']}; delete the older lines")
        return found

    def found_elsewhere(self, variant, seed, shards, program):
        """Returns the line of the same run in another plan of the folder, or None."""
        wanted = (self.settings(variant, seed), self.ranks_of(variant), shards, program)
        for path in sorted(self.path.parent.glob("*.yaml")):
            other = Plan(path)
            if path.samefile(self.path) or other.deck != self.deck:
                continue
            for line in read_lines(other.results_file):
                mine = line | {"variant": variant, "from": path.stem}
                if (line["settings"], line["ranks"], line.get("shards"), line.get("program")) == wanted and not self.differing(mine):
                    return mine
        return None

    def keep(self, line):
        whole = self.results_file.read_bytes().rpartition(b"\n") if self.results_file.exists() else (b"", b"", b"")
        with open(self.results_file, "ab") as file:
            file.truncate(len(whole[0] + whole[1]))
            file.write(json.dumps(line).encode() + b"\n")


def resolved(deck_file):
    """Returns all keys of a deck except section run and the paths of data: {"section.key": text}."""
    deck = yaml.safe_load(deck_file.read_text(encoding="utf-8"))
    deck.pop("run", None)
    for key in ("train", "heldout"):
        deck.get("data", {}).pop(key, None)
    return flat(deck)


def fingerprint(folder):
    """Returns a hash of the names and contents of all shards below a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.h5")):
        found.update(str(path.relative_to(folder)).encode())
        with h5py.File(path) as file:
            found.update(repr(sorted((name, str(value)) for name, value in file.attrs.items())).encode())
            for name in sorted(file):
                values = file[name][()]
                found.update(f"{name} {values.dtype.str} {values.shape}".encode())
                found.update(values.tobytes())
    return found.hexdigest()[:16]


def program_name(path):
    """Returns the program's version and a hash of its file."""
    version = subprocess.run([path, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    with open(path, "rb") as file:
        return f"{version}, {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def outcome(run):
    """Returns the results of a finished run from its statistics.h5."""
    with h5py.File(run / "statistics.h5") as file:
        steps, evaluation, traffic = file["steps"][:], file["evaluation"][:], file["traffic"][:]
    frozen = steps["step"][steps["phase"] == 1]
    return {"held_out": [[int(step), round(float(loss), 5)] for step, loss in zip(evaluation["step"], evaluation["mlm_loss"])],
            "total": [round(float(loss), 5) for loss in evaluation["loss"]],
            "steps": int(steps["step"][-1]), "samples": int(steps["samples"][-1]),
            "frozen_after": int(frozen[0]) - 1 if len(frozen) else None,
            "skipped": int(steps["skipped"].sum()),
            "sent_bytes": int(traffic["sent_bytes"].sum()), "dense_bytes_fp32": int(traffic["dense_bytes_fp32"].sum())}


def job_of(directory, steps, jobs):
    """Returns the index of the job, each with an equal share of the steps, that continues from the newest checkpoint."""
    names = (path.name.removeprefix("step_") for path in directory.glob("checkpoints/step_*"))
    return min(max((int(name) for name in names if name.isdigit()), default=0) * jobs // steps, jobs - 1)


class Runner:
    def __init__(self, plan, options):
        self.plan, self.options = plan, options
        self.shards = fingerprint(options.shards)
        self.program = program_name(options.program)
        self.until = time.time() + 3600 * options.hours
        self.process = None

    def end_soon(self, *_):
        self.until = 0

    def launch(self, ranks):
        threads = max(1, len(os.sched_getaffinity(0)) // ranks)
        env = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive",
                            "OMPI_MCA_mpi_yield_when_idle": "1"}
        if os.geteuid() == 0:
            env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if ranks == 1:
            return [], env
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)], env

    def job(self, variant, seed, directory, settings, ranks, until, steps):
        """Continues training. Returns False if the run is finished, True if it has stopped at or soon after step `until`."""
        launcher, env = self.launch(ranks)
        command = launcher + [str(self.options.program), "train", str(self.plan.deck), "--log", "lines", "--resume"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        asked_to_stop = False
        with open(directory.with_suffix(".log"), "a+", encoding="utf-8") as log:
            begin = log.tell()
            self.process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
            while self.process.poll() is None:
                if time.time() > self.until:
                    self.process.send_signal(signal.SIGUSR1 if launcher else signal.SIGTERM)
                    self.process.wait()
                    raise Stop
                if until < steps and not asked_to_stop:
                    log.seek(begin)
                    told = re.findall(r"^step (\d+)/", log.read(), re.MULTILINE)
                    if told and int(told[-1]) >= until:
                        asked_to_stop = True
                        (directory / "stop").touch()
                time.sleep(0.5)
        if self.process.returncode == 85 and not asked_to_stop:
            raise Stop
        if self.process.returncode not in (0, 85):
            sys.exit(f"{variant}, seed {seed} failed: {directory.with_suffix('.log')}")
        return self.process.returncode == 85

    def run(self, variant, seed):
        if time.time() > self.until:
            raise Stop
        directory = self.options.work / self.plan.path.stem / variant / f"seed_{seed}"
        directory.parent.mkdir(parents=True, exist_ok=True)
        settings = self.plan.settings(variant, seed) | {
            "run.directory": str(directory), "run.name": f"{variant}, seed {seed}",
            "data.train": f"[{self.options.shards}]", "data.heldout": f"[{self.options.shards / 'heldout'}]"}
        asked = {"settings": self.plan.settings(variant, seed), "ranks": self.plan.ranks_of(variant),
                 "deck": resolved(self.plan.deck), "shards": self.shards}
        begun = directory.with_suffix(".asked.json")
        if not directory.exists():
            begun.write_text(json.dumps(asked), encoding="utf-8")
        elif not begun.exists() or json.loads(begun.read_text(encoding="utf-8")) != asked:
            sys.exit(f"{directory} was begun with other settings, ranks, deck or shards; delete it to begin anew")
        jobs = self.plan.ranks_of(variant)
        jobs = jobs if isinstance(jobs, list) else [jobs]
        steps = int(settings["schedule.steps"])
        goes_on = True
        while goes_on:
            at = job_of(directory, steps, len(jobs))
            goes_on = self.job(variant, seed, directory, settings, jobs[at], steps * (at + 1) // len(jobs), steps)
        line = {"variant": variant, "seed": seed, "ranks": self.plan.ranks_of(variant),
                "settings": self.plan.settings(variant, seed), "deck": resolved(directory / "deck.resolved.yaml"), "shards": self.shards,
                "program": self.program} | outcome(directory)
        self.plan.keep(line)
        shutil.rmtree(directory / "checkpoints")
        print(f"{variant}, seed {seed}: {line['held_out'][-1][1]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("--shards", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/bellwether"))
    parser.add_argument("--hours", type=float, default=1e6, help="stop with a checkpoint after this time")
    parser.add_argument("--only", nargs="+", help="variants to run")
    parser.add_argument("--seeds", nargs="+", type=int, help="of the plan's, those to run")
    parser.add_argument("--list", action="store_true", help="say what is finished, run nothing")
    options = parser.parse_args()
    plan = Plan(options.plan)
    for name, known in ((options.only, plan.variants), (options.seeds, plan.seeds)):
        if unknown := [each for each in name or [] if each not in known]:
            parser.error(f"{plan.path} has no {unknown[0]}; it has {', '.join(map(str, known))}")
    wanted = [(v, s) for s in options.seeds or plan.seeds for v in options.only or plan.variants]
    if options.list:
        done = plan.results()
        for variant, seed in wanted:
            line = done.get((variant, seed))
            print(f"{variant:32} {seed:4}  {line['held_out'][-1][1] if line else 'to do'}")
        return
    if options.shards is None or options.work is None:
        parser.error("--shards and --work are needed to run")
    options.shards, options.work = options.shards.resolve(), options.work.resolve()
    options.program = options.program.resolve()
    runner = Runner(plan, options)
    signal.signal(signal.SIGTERM, runner.end_soon)
    try:
        for variant, seed in wanted:
            if (variant, seed) in plan.results():
                continue
            if found := plan.found_elsewhere(variant, seed, runner.shards, runner.program):
                plan.keep(found)
                print(f"{variant}, seed {seed}: {found['held_out'][-1][1]}, from {found['from']}", flush=True)
            else:
                runner.run(variant, seed)
    except (Stop, KeyboardInterrupt):
        if runner.process and runner.process.poll() is None:
            runner.process.wait()
        print("stopped; the same command goes on from here", flush=True)
        sys.exit(85)


if __name__ == "__main__":
    main()
