# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the statistics of a run for report.py, and writes the page atomically."""
import pathlib
import signal
import sys

import h5py

# The columns that are read from each table of statistics.h5.
COLUMNS = {
    "steps": ("step", "loss", "mlm_loss", "nsp_loss", "learning_rate", "gradient_norm", "clip_factor", "skipped", "tokens", "samples",
              "tokens_per_second", "wall_seconds", "step_seconds", "wait_data_seconds", "wait_ranks_seconds", "sent_bytes", "phase",
              "intra_node_bytes", "noise_trace", "noise_scale", "critical_batch"),
    "evaluation": ("step", "mlm_loss", "nsp_loss", "mlm_accuracy"),
    "traffic": ("steps", "sent_bytes", "worker_bytes", "server_bytes", "scalar_bytes", "dense_bytes_fp32", "dense_bytes_16bit")}


# Names of columns in version 0.1.0.
EARLIER = {"inside_node_bytes": "intra_node_bytes"}


class Refused(Exception):
    """The file is not one that this script can draw."""


def table_of(file, name):
    """Returns all rows of a table. Raises Refused if it lacks a column that is drawn."""
    table = file.get(name)
    if not isinstance(table, h5py.Dataset) or table.ndim != 1 or table.dtype.names is None:
        raise Refused(f"{file.filename}: no table '{name}'; allowed: the statistics.h5 of a run")
    today = [EARLIER.get(column, column) for column in table.dtype.names]
    missing = [column for column in COLUMNS[name] if column not in today]
    if missing:
        raise Refused(f"{file.filename}: the table '{name}' has no column {', '.join(missing)}; another version of the program wrote it")
    rows = table[:]
    rows.dtype.names = today
    return rows


def record_of(file):
    """Returns the tables and the group of layers of a run's statistics."""
    tables = [table_of(file, name) for name in COLUMNS]
    layers = file.get("layers")
    if not isinstance(layers, h5py.Group) or "name" not in layers or "step" not in layers:
        raise Refused(f"{file.filename}: no group 'layers' with names and steps; allowed: the statistics.h5 of a run")
    steps, _, traffic = tables
    if len(steps) == 0:
        raise Refused(f"{file.filename}: no step has been written yet")
    if len(traffic) != 2:
        raise Refused(f"{file.filename}: the table 'traffic' has {len(traffic)} rows; allowed: 2, one a phase")
    return (*tables, layers)


def write_whole(out, text):
    """Writes the file atomically: at any time it is the complete old or the complete new one."""
    path = pathlib.Path(out).resolve()
    aside = path.with_name(path.name + ".part")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def told(error):
    """Returns the first line of an exception's message."""
    return str(error).split("\n", maxsplit=1)[0] or type(error).__name__


def draw(page_of, run, out):
    """Writes page_of(run) to the file `out`, or to standard output if `out` is "-". Returns the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # SystemExit runs write_whole()'s cleanup
    try:
        text = page_of(run)
        if out == "-":
            sys.stdout.buffer.write(text.encode())
            sys.stdout.flush()
        else:
            write_whole(out, text)
            print(out)
        return 0
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.filename or run}: {error.strerror or told(error)}", file=sys.stderr)
        return 1
    except Exception as error:  # pylint: disable=broad-except
        print(f"error: {run}: its statistics cannot be drawn: {type(error).__name__}: {told(error)}", file=sys.stderr)
        return 1
