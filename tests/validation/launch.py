# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shared by scripts that compare the program's speed with others: cores, processes, lines of results."""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys


def cores():
    """Returns, for each core on which this process may run, its CPUs: several if it has several hardware threads."""
    found = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            core = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii")
        except OSError:
            core = cpu
        found.setdefault(core, set()).add(cpu)
    return list(found.values())


def launched(mpirun, ranks):
    """Returns the words of a launcher command with one core per rank, or without binding if there are too few cores."""
    placed = ["--bind-to", "core"] if ranks <= len(cores()) else ["--oversubscribe", "--bind-to", "none"]
    return [mpirun, "-np", str(ranks), *placed]


def told_by(commands, environment, places=(None,)):
    """Runs commands at the same time, each on a set of CPUs, and returns their output. A failure ends this script."""
    # Otherwise Open MPI refuses to run as root, which is usual in a container.
    environment = environment | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with contextlib.ExitStack() as all_jobs:
        jobs = [all_jobs.enter_context(subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=functools.partial(os.sched_setaffinity, 0, place) if place else None))
            for command, place in zip(commands, places, strict=True)]
        told = [job.communicate() for job in jobs]
    for command, job, texts in zip(commands, jobs, told, strict=True):
        if job.returncode:
            sys.exit(f"{' '.join(command)}: exit {job.returncode}\n{''.join(texts)}")
    return [text for text, _ in told]


def results_file(text):
    """Checks for argparse that lines can be appended to a file, and returns its path."""
    try:
        with open(text, "a", encoding="utf-8"):
            return text
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.strerror}") from error


def keep(path, line):
    """Appends a line of results, unless no file is given."""
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
