# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the folders and files that whole runs write to: nothing of the user or of another run is lost.

    directory_runs.py CASE PROGRAM MPIRUN      CASE: kept_files | unfit_directories | lost_directory"""

import os
import re
import shutil
import signal
import subprocess
import time

from runs import PATIENCE, main, ranks_of


def contents(folder):
    """Returns every file below a folder, byte for byte."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def kept_files(runs):
    """`report --out` replaces only pages and empty files. It refuses others before it draws."""
    runs.train("run", 1, 16, 4, every=2)
    before = contents(runs.folder)
    report = [runs.program, "report", "run", "--out"]
    for name in ("run/statistics/segment_000000.h5", "run/statistics.h5", "run/checkpoints/step_4/replicated.h5",
                 "run/checkpoints/step_4/manifest", "run/deck.resolved.yaml", "run/starts.txt", "run/.lock"):
        told = runs.refuse(report + [name])
        assert told.startswith(f"error: {name}: is in the run's directory {runs.folder.resolve()}/run, where only a name"), told
    (runs.folder / "run/shown.html").symlink_to("../run.yaml")
    assert runs.refuse(report + ["run/stop"]).endswith("that ends in .html is allowed; name another file")
    for name in ("run.yaml", "vocab.txt", "text.txt", "run/shown.html"):
        told = runs.refuse(report + [name])
        assert told == f"error: {name}: exists and is not an HTML page; allowed: a new file, or an HTML page to replace", told
    assert {path: held for path, held in contents(runs.folder).items() if path.name != "shown.html"} == before
    os.mkfifo(runs.folder / "pipe")
    assert "error: pipe: is a pipe that no program reads; start its reader first" in runs.refuse(report + ["pipe"])
    (runs.folder / "pipe").unlink()
    # These may be replaced. The interpreter is missing, so that nothing is drawn.
    for name, text in (("old.html", "\n<!DOCTYPE HTML>\n<title>"), ("old", "\ufeff<html lang=en>"), ("empty", "")):
        (runs.folder / name).write_text(text, encoding="utf-8")
        assert "python3-h5py" in runs.refuse(report + [name], 1, BELLWETHER_PYTHON="/none")
        assert (runs.folder / name).read_text(encoding="utf-8") == text


def unfit_directories(runs):
    """`check` and `train` find at the start that a run directory cannot take checkpoints, and create nothing."""
    runs.deck("run", 16, 4, 2)
    check = [runs.program, "check", "run.yaml"]

    def refused(directory, words):
        before = sorted(path.relative_to(runs.folder) for path in runs.folder.rglob("*") if path.name != ".lock")
        for command in (check, runs.command("run", 1), runs.command("run", 2)):
            told = runs.refuse(command + ["--set", f"run.directory={directory}"])
            assert told.startswith("error: --set run.directory=") and words in told and "\n" not in told, (command, told)
        after = sorted(path.relative_to(runs.folder) for path in runs.folder.rglob("*") if path.name != ".lock")
        assert after == before, (before, after)

    refused("-", "'-' would be standard output, which is no folder; write './-' for")
    (runs.folder / "link").symlink_to("/nonexistent/scratch")
    for name in ("link", "link/new"):
        refused(name, f": {runs.folder}/link is a link to /nonexistent/scratch, which does not exist; make")
    for name in ("checkpoints", "statistics"):
        (runs.folder / f"linked_{name}").mkdir()
        (runs.folder / f"linked_{name}" / name).symlink_to("/nonexistent/scratch")
        refused(f"linked_{name}", f"linked_{name}/{name} is a link to /nonexistent/scratch, which does not exist; make")
        (runs.folder / f"file_{name}").mkdir()
        (runs.folder / f"file_{name}" / name).write_text("mine")
    refused("file_checkpoints", "file_checkpoints/checkpoints is not a folder, and a run writes a folder of this name")
    long = "/".join(["x" * 200] * 25)
    refused(long[:4050 - len(str(runs.folder)) - 1], "a path of 4050 bytes, and the system allows 4095 with the names of")
    runs.refuse([runs.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", long[:3990]])
    different_folders(runs)
    # A link to a folder that exists serves.
    (runs.folder / "elsewhere").mkdir()
    (runs.folder / "linked_checkpoints/checkpoints").unlink()
    (runs.folder / "linked_checkpoints/checkpoints").symlink_to("../elsewhere")
    runs.call(runs.command("run", 2, "--set", "run.directory=linked_checkpoints"))
    assert sorted(path.name for path in (runs.folder / "elsewhere").iterdir()) == ["step_2", "step_4"]


def different_folders(runs):
    """Two ranks with folders of their own under one name, as on nodes without a shared file system."""
    for name in ("a", "b"):
        (runs.folder / name / "run").mkdir(parents=True)

    def command(what, *more):
        ranks = [["-np", "1", "-wdir", str(runs.folder / name), runs.program, what, str(runs.folder / "run.yaml"), *more]
                 for name in ("a", "b")]
        return runs.launch(2)[:-2] + ranks[0] + ["--set", "run.directory=/proc/self/cwd/run", ":"] + ranks[1]

    words = "rank 1: --set run.directory=/proc/self/cwd/run: /proc/self/cwd/run is not the same folder on "
    told = runs.refuse(command("train") + ["--set", "run.directory=/proc/self/cwd/run"])
    assert told.startswith("error: " + words) and told.endswith("name a folder on a file system that all nodes share"), told
    assert not any(path.name != ".lock" for name in ("a", "b") for path in (runs.folder / name / "run").iterdir())
    runs.call([runs.program, "train", "../run.yaml", "--set", "run.directory=run"], cwd=runs.folder / "a")
    kept = sorted((runs.folder / "a").rglob("*"))
    for what, *more in (["check"], ["train", "--resume"]):
        told = runs.refuse(command(what, *more) + ["--set", "run.directory=/proc/self/cwd/run"])
        assert told.startswith("error: " + words), told
    assert sorted((runs.folder / "a").rglob("*")) == kept


def lost_directory(runs):
    """A suspended run whose directory was taken away ends with one error. It changes nothing in the folder that has the
    name by then, and creates none."""
    run, aside = runs.folder / "run", runs.folder / "aside"
    for ranks, more in ((1, ()), (2, ("--set", "optimizer.method=onebit_lamb", "--set", "optimizer.freeze.step=3",
                              "--set", "checkpoint.keep=1")),
                        (1, ("--set", "checkpoint.every=0", "--set", "statistics.flush=100000"))):
        for taken in ("renamed", "removed", "replaced"):
            runs.deck("run", 16, 200000, 2)
            command = runs.command("run", ranks, *more)[0 if ranks > 1 else len(runs.launch(1)):]
            with subprocess.Popen(command, cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                for line in process.stdout:
                    if (told := re.match(r"step (\d+)/", line)) and int(told[1]) >= 10:
                        break
                suspended = ranks_of(process, ranks)
                for rank in suspended:
                    os.kill(rank, signal.SIGSTOP)
                if taken == "removed":
                    shutil.rmtree(run)
                else:
                    run.rename(aside)
                before = {}
                if taken == "replaced":
                    runs.train("run", 1, 16, 6, every=2)
                    (run / "stop").touch()
                    before = contents(run)
                for rank in suspended:
                    os.kill(rank, signal.SIGCONT)
                told = process.communicate(timeout=PATIENCE)[1]
            errors = [line for line in told.splitlines() if line.startswith("error: ")]
            assert process.returncode == 1 and len(errors) == 1, (taken, told)
            assert f"{run}: was removed, renamed or replaced while this job ran" in errors[0], told
            assert contents(run) == before and run.exists() == (taken == "replaced"), (taken, told)
            shutil.rmtree(run, ignore_errors=True)
            shutil.rmtree(aside, ignore_errors=True)


if __name__ == "__main__":
    main(globals())
