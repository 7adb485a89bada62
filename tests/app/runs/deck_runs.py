# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs with decks and paths as shells, pipes and launchers pass them.

    deck_runs.py CASE PROGRAM MPIRUN      CASE: written_paths | other_methods | piped_decks"""

import os
import shutil
import subprocess

from runs import PATIENCE, main


def written_paths(runs):
    """Paths that only a shell expands are rejected in every key, before anything is created."""
    runs.deck("run", 16, 2)
    before = sorted(runs.folder.iterdir())
    program, text = runs.program, ["text.txt", "--vocab", "vocab.txt", "--sequence-length", "64"]

    def refused(command, what):
        told = runs.refuse([program] + command, HOME="/home/ada", BELLWETHER_TEST_USER="ada")
        assert len(told.splitlines()) == 1 and what in told, (command, told)
        assert sorted(runs.folder.iterdir()) == before, command

    for command in (["train", "run.yaml"], ["check", "run.yaml"]):
        refused(command + ["--set", "run.directory=~/run"],
                "error: --set run.directory=~/run: '~/run' begins with ~, which is not expanded; write it out: '/home/ada/run'")
        refused(command + ["--set", "data.train=[$BELLWETHER_TEST_USER/shards]"], "write it out: 'ada/shards'")
    for command in (["train"], ["check"], ["inspect"], ["report"], ["prepare"], ["prepare", *text, "--out"],
                    ["prepare", "text.txt", "--out", "new", "--vocab"], ["tokenize", "--vocab"], ["report", "run", "--out"],
                    ["check", "run.yaml", "--cluster"], ["bench", "checkpoint", "--directory"], ["bench", "kernels", "--json"],
                    ["bench", "step", "--model"]):
        more = ["--vocab", "vocab.txt", "--out", "new"] if command == ["prepare"] else []
        for path in ("~/x.yaml", "${BELLWETHER_TEST_USER}/x.yaml"):
            refused(command + [path] + more, "which is not expanded; write it out: '/home/ada/x.yaml'" if path[0] == "~"
                    else "which is not expanded; write it out: 'ada/x.yaml'")
    for path, what in (("$(date)/x.yaml", "holds $(date), which is not expanded"), ("s3://bucket/x.yaml", "is a URL, which is not opened")):
        for command in (["check"], ["train"], ["inspect"], ["prepare", *text, "--out"], ["report", "run", "--out"]):
            refused([*command, path], f"'{path}' {what}; write ")
    for command in (["check", "x\x1b[31m.yaml"], ["inspect", "x\x1b[31m.h5"], ["tokenize", "--vocab", "x\x1b[31m"]):
        refused(command, "error: x<U+001B>[31m")
    # A shell lists such a name for `*`.
    shutil.copy(runs.folder / "text.txt", runs.folder / "~text.txt")
    runs.call([program, "prepare", "~text.txt", *text[1:], "--out", "$1"])


def other_methods(runs):
    """`--set optimizer.method` on the deck of another method: `check` and `train` name the keys that are not used, once."""
    runs.deck("run", 16, 2)
    deck = runs.folder / "run.yaml"
    deck.write_text(deck.read_text().replace("method: lamb,", "method: lamb, max_coefficient: 0.5,"))
    for command in (["check", "run.yaml"], ["train", "run.yaml", "--log", "lines"]):
        for method, told in (("lamb", 0), ("adamw", 1)):
            more = ["--set", f"optimizer.method={method}", "--set", f"run.directory={command[0]}_{method}"]
            done = subprocess.run(runs.launch(2) + [runs.program, *command, *more], cwd=runs.folder, capture_output=True, text=True,
                                  check=False, timeout=PATIENCE)
            assert done.returncode == 0, done
            warning = f"warning: --set optimizer.method={method}: these keys of the deck are not used with {method}: optimizer.max_coefficient\n"
            assert (done.stdout + done.stderr).count(warning) == told, (command, method, done)
            assert (done.stdout + done.stderr).count("not used with") == told, (command, method, done)
    runs.refuse([runs.program, "check", "run.yaml", "--strict", "--set", "optimizer.method=adamw"])


def piped_decks(runs):
    """A deck from standard input or another pipe is relative to the working directory; rank 0 reads it for all
    ranks."""
    (runs.folder / "decks").mkdir()
    runs.deck("run", 16, 2)
    deck = (runs.folder / "run.yaml").read_text()

    def piped(command, text, expected=0, **more):
        done = subprocess.run(command, cwd=runs.folder, input=text, capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env=dict(os.environ), **more)
        assert done.returncode == expected, done
        return done.stdout + done.stderr

    for path in ("-", "/dev/stdin", "/dev/fd/0"):
        told = piped([runs.program, "check", path], deck)
        assert told.startswith("standard input has no faults") or "\nstandard input has no faults" in told, told
    ends = os.pipe()
    os.write(ends[1], deck.encode())
    os.close(ends[1])
    told = piped([runs.program, "check", f"/dev/fd/{ends[0]}"], "", pass_fds=[ends[0]])
    os.close(ends[0])
    assert f"/dev/fd/{ends[0]} has no faults" in told, told
    told = piped([runs.program, "check", "-"], deck.replace("[shards]", "[nowhere]"), expected=2)
    assert f"error: standard input:3:15: data.train: {runs.folder}/nowhere does not exist" in told, told
    told = piped([runs.program, "check", "-", "--cluster", "/dev/stdin"], deck, expected=2)
    assert "error: check: deck and cluster both come from standard input" in told, told
    assert "error: standard input: is empty" in piped([runs.program, "check", "-"], "", expected=2)

    for ranks in (1, 2):
        told = piped(runs.launch(ranks) + [runs.program, "train", "-", "--set", f"run.directory=piped{ranks}"], deck)
        assert "finished at step 2" in told, told
        resolved = (runs.folder / f"piped{ranks}/deck.resolved.yaml").read_text()
        assert "\n# Made from standard input --set run.directory=piped" in resolved, resolved
        assert "# standard input:4" in resolved, resolved
    told = piped(runs.launch(2) + [runs.program, "check", "/dev/fd/63"], deck, expected=2)
    assert told.count("error: ") == 1 and "error: /dev/fd/63: is not open here: launchers pass on only standard input" in told
    unopened_descriptors(runs, piped, deck)


def unopened_descriptors(runs, piped, deck):
    """A descriptor that the program was started without stays closed: MPI's own ones have the lowest numbers."""
    unopened = "is not open here: launchers pass on only standard input"
    for number in (3, 5, 7, 9, 12, 15):
        told = piped([runs.program, "check", f"/dev/fd/{number}"], "", expected=2)
        assert told.count("error: ") == 1 and f"error: /dev/fd/{number}: {unopened}" in told, told
    for cluster in (["--cluster", "/dev/fd/7"], ["--cluster=/dev/fd/7"]):
        told = piped([runs.program, "check", "run.yaml", *cluster], "", expected=2)
        assert f"error: /dev/fd/7: {unopened}" in told, told
    with open(runs.folder / "run.yaml", encoding="ascii") as file:
        command = runs.launch(2) + [runs.program, "train", f"/dev/fd/{file.fileno()}"]
        told = piped(command, deck, expected=2, pass_fds=[file.fileno()])
        assert told.count("error: ") == 1 and unopened in told and not (runs.folder / "run").exists(), told
    for command, place in ((["prepare", "/dev/fd/7", "--vocab", "vocab.txt", "--out", "new"], "/dev/fd/7"),
                           (["tokenize", "--vocab", "/dev/fd/7"], "/dev/fd/7"), (["inspect", "/dev/fd/7"], "/dev/fd/7"),
                           (["bench", "kernels", "--json", "/dev/fd/7"], "--json: /dev/fd/7")):
        told = piped([runs.program, *command], "", expected=2)
        assert f"error: {place}: " in told and "is not open here" in told, told


if __name__ == "__main__":
    main(globals())
