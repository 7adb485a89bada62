# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""What scripts share that time the program beside others: cores, how processes start and end, lines of results."""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys


def cores():
    """Of each core on which this process may run, its CPUs: more than one where a core runs more than one thread."""
    found = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            core = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii")
        except OSError:
            core = cpu
        found.setdefault(core, set()).add(cpu)
    return list(found.values())


def launched(mpirun, ranks):
    """Words of a launcher with a core a rank, or without binding where cores are too few."""
    placed = ["--bind-to", "core"] if ranks <= len(cores()) else ["--oversubscribe", "--bind-to", "none"]
    return [mpirun, "-np", str(ranks), *placed]


def told_by(commands, environment, places=(None,)):
    """What commands that run at the same time write, each in its place, a set of CPUs. One that fails ends this script."""
    # Open MPI refuses root otherwise, who has its reasons in a container.
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
    """The path of a file to which lines can be appended, for argparse."""
    try:
        with open(text, "a", encoding="utf-8"):
            return text
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.strerror}") from error


def keep(path, line):
    """Appends a line of results; nothing where no file is wanted."""
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
