# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `bellwether inspect` and `bellwether report` with HDF5 files of other programs.

    foreign_runs.py CASE PROGRAM MPIRUN      CASE: attributes | objects | meaningless_options | reports_of_others |
                                               refused_interpreters | interrupted_report"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from runs import PATIENCE, h5py, main, np

# attribute, value or how it is created, expected output
ATTRIBUTES = (
    ("array", np.arange(3), "[0, 1, 2]"),
    ("long", np.arange(100), "[0, 1, 2, 3, 4, 5, 6, 7, ... of 100]"),
    ("matrix", np.ones((2, 3), "f4"), "(2, 3) [1, 1, 1, 1, 1, 1]"),
    ("one_of_one", np.array([7]), "[7]"),
    ("largest", np.uint64(2**64 - 1), "18446744073709551615"),
    ("big_endian", np.array(-5, ">i2"), "-5"),
    ("half", np.float16(0.5), "0.5"),
    ("quadruple", np.longdouble(0.25), "0.25"),
    ("fixed", np.bytes_(b"text"), "text"),
    ("fixed_array", np.array([b"a", b"bc"]), "[a, bc]"),
    ("utf8", np.array("\u00e9t\u00e9".encode(), h5py.string_dtype("utf-8", 7)), "\u00e9t\u00e9"),
    ("broken_utf8", np.bytes_(b"a\xff\xfeb"), r"a\xff\xfeb"),
    ("control", np.array("\x1b[2J\u009b\u202e".encode(), h5py.string_dtype("utf-8", 16)), r"\x1b[2J\xc2\x9b\xe2\x80\xae"),
    ("variable", "text", "(text of variable length)"),
    ("variable_array", ["a", "b"], "(2 texts of variable length)"),
    ("flag", True, "TRUE"),
    ("flags", np.array([True, False]), "[TRUE, FALSE]"),
    ("choice", np.array(2, h5py.enum_dtype({"RED": 1, "BLUE": 2}, basetype=">i4")), "BLUE"),
    ("no_choice", np.array(-3, h5py.enum_dtype({"RED": 1, "BLUE": 2}, basetype="i2")), "-3"),
    ("compound", np.array((1, 2.0), [("count", "i4"), ("share", "f8")]), "(compound of count, share)"),
    ("complex", np.complex64(1 + 2j), "(compound of r, i)"),
    ("opaque", np.void(b"abcdef"), "(opaque of 6 bytes)"),
    ("empty", h5py.Empty("f4"), "(empty)"),
    ("empty_text", h5py.Empty(h5py.string_dtype()), "(empty)"),
    ("zero_sized", np.zeros((0, 4)), "(no values)"),
    ("blank", np.bytes_(b""), ""))


def inspected(runs, name, *options, expected=0):
    return runs.call([runs.program, "inspect", name, *options], expected)


def attributes(runs):
    """Attributes of every type and shape are printed or described in a few words, also in groups below the root."""
    with h5py.File(runs.folder / "others.h5", "w") as file:
        file.create_group("below")
        for holder in (file, file["below"]):
            for name, value, _ in ATTRIBUTES:
                holder.attrs[name] = value
            holder.attrs["reference"] = file["below"].ref
            holder.attrs.create("references", [file.ref, file["below"].ref], dtype=h5py.ref_dtype)
            sequence = np.empty(1, object)
            sequence[0] = np.arange(3, dtype="i4")
            holder.attrs.create("sequence", sequence, dtype=h5py.vlen_dtype("i4"))
            holder.attrs.create("tuple", np.zeros(3, "i4"), shape=(3,), dtype=np.dtype("(3,)i4"))
            space_padded = h5py.h5t.C_S1.copy()
            space_padded.set_size(8)
            space_padded.set_strpad(h5py.h5t.STR_SPACEPAD)
            padded = h5py.h5a.create(holder.id, b"padded", space_padded, h5py.h5s.create(h5py.h5s.SCALAR))
            padded.write(np.array(b"wide    ", "S8"), space_padded)
        file.attrs.create("format", [b"keras", b"x"])  # our files have a single text here
    told = inspected(runs, "others.h5")
    assert "others.h5: HDF5 file of another program, " in told, told
    others = (("reference", None, "(reference)"), ("references", None, "(2 values, each reference)"),
              ("sequence", None, "(1 values, each sequence of int32 of variable length)"), ("tuple", None, "(array of 3 int32)"), ("padded", None, "wide"))
    for name, _, shown in ATTRIBUTES + others:
        for place in ("/@", "/below/@"):
            assert f"  {place}{name} = {shown}\n" in told, (place, name, shown, told)
    assert all(c.isprintable() or c == "\n" for c in told), told


def objects(runs):
    """Data sets of every type and shape, names for types, links, and the layout of Keras. Unreadable objects are
    reported in place and at the end, and do not hide the others."""
    with h5py.File(runs.folder / "others.h5", "w") as file:
        file["empty"] = h5py.Empty("f4")
        file["empty_text"] = h5py.Empty(h5py.string_dtype())
        file["rows_of_none"] = np.zeros((0, 4), "f4")
        file["scalar"] = np.float32(-2)
        file["largest"] = np.uint64(2**64 - 1)
        file["half"] = np.ones(3, "f2")
        file["flags"] = np.array([True, False])
        file["blob"] = np.void(b"abcdef")
        file["words"] = ["one", "two"]
        file["pointer"] = file.ref
        file["pair"] = np.zeros(2, [("r", "f4"), ("i", "f4")])
        file["kind"] = np.dtype("i4")
        file["soft"], file["away"] = h5py.SoftLink("/scalar"), h5py.ExternalLink("none.h5", "/x")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["steps"] = np.array([(b"a", 1)], [("name", "S1"), ("value", "i4")])  # not a table of ours
        file["deck"] = np.arange(3)
        layers = file.create_group("model_weights")
        layers.attrs["layer_names"] = np.array([b"dense", b"dropout"])
        layers.attrs["keras_version"] = "2.9.0"
        layers.create_group("dropout").attrs["weight_names"] = np.array([], "S1")
        layers.create_dataset("dense/dense/kernel:0", data=np.ones((2, 2), "f4"))
        layers["dense"].attrs["weight_names"] = np.array([b"dense/kernel:0"])
    told = inspected(runs, "others.h5")
    for line in ("/empty  float32, without a value", "/empty_text  text, without a value", "/rows_of_none  float32 (0, 4)",
                 "/scalar  float32 ()  = -2", "/largest  uint64 ()  = 18446744073709551615", "/half  float16 (3)",
                 "/flags  int8 (2)", "/blob  opaque of 6 bytes ()", "/words  text (2)", "/pointer  reference ()",
                 "/pair  compound (2)", "/kind  neither group nor data set", "/soft  a link to another place, not followed",
                 "/away  a link to another place, not followed", "/dangling  a link to another place, not followed",
                 "/model_weights/@layer_names = [dense, dropout]", "/model_weights/@keras_version = (text of variable length)",
                 "/model_weights/dropout/@weight_names = (no values)", "/model_weights/dense/dense/kernel:0  float32 (2, 2)  rms 1"):
        assert f"  {line}\n" in told, (line, told)
    assert re.search(r"^steps: not shown: .*column 'name' holds no numbers$", told, re.MULTILINE), told

    shutil.copy(runs.folder / "others.h5", runs.folder / "unreadable.h5")
    with h5py.File(runs.folder / "unreadable.h5", "r+") as file:
        file.create_dataset("aaa", data=np.ones(9, "f4"), compression="lzf")  # a filter that this library lacks
    done = subprocess.run([runs.program, "inspect", "unreadable.h5"], cwd=runs.folder, capture_output=True, text=True, check=False,
                          timeout=PATIENCE)
    assert done.returncode == 2 and "/aaa  float32 (9)  UNREADABLE: is compressed by the filter 'lzf'" in done.stdout, done
    assert "/scalar  float32 ()  = -2\n" in done.stdout, done
    assert done.stderr == "error: unreadable.h5: 1 data set cannot be read; see UNREADABLE above\n", done


def meaningless_options(runs):
    """Options that do not apply to a file are rejected. So is an option that only makes sense without the other one."""
    runs.train("run", 1, 16, 2, every=2)
    shard = str(next((runs.folder / "shards").glob("*.h5")).relative_to(runs.folder))
    with h5py.File(runs.folder / "others.h5", "w") as file:
        file["x"] = 1
    step = "run/checkpoints/step_2"
    for path, options, words in ((shard, ["--deck"], "--deck: "), (shard, ["--damaged"], "--damaged: "), ("others.h5", ["--rows", "1"], "--rows: "),
                                 ("others.h5", ["--deck"], "--deck: "), (step, ["--rows", "1"], "--rows: "),
                                 (f"{step}/replicated.h5", ["--rows", "3", "--deck"], "--rows: "),
                                 ("run/statistics.h5", ["--damaged"], "--damaged: "), ("run/checkpoints", ["--deck"], "is a folder of checkpoints"),
                                 ("run/checkpoints", ["--damaged"], "is a folder of checkpoints"), ("run/checkpoints", ["--rows", "1"], "is a folder of checkpoints")):
        done = subprocess.run([runs.program, "inspect", path, *options], cwd=runs.folder, capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("error: ") == 1 and words in done.stderr, (path, options, done)
    assert "row 0 (" in inspected(runs, shard, "--rows", "1")
    assert "  seed: 3" in inspected(runs, step, "--deck", "--damaged")


def reports_of_others(runs):
    """`report` prints one plain error if its input is not a run's record or its page cannot be written; an older page
    stays."""
    page = runs.folder / "run/report.html"
    runs.train("run", 1, 16, 4)
    runs.call([runs.program, "report", "run"], BELLWETHER_PYTHON=sys.executable)
    whole = page.read_bytes()
    report = [runs.program, "report", "run"]

    def refused(words, expected, *more):
        before = sorted((runs.folder / "run").iterdir())
        done = subprocess.run([*report, *more], cwd=runs.folder, capture_output=True, text=True, check=False, timeout=PATIENCE,
                              env=dict(os.environ, BELLWETHER_PYTHON=sys.executable))
        assert done.returncode == expected and "Traceback" not in done.stderr and words in done.stderr, (words, done)
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1 and done.stdout == "", (words, done)
        assert page.read_bytes() == whole and sorted((runs.folder / "run").iterdir()) == before, words

    refused("/dev/full: cannot be written: No space left on device", 1, "--out", "/dev/full")
    refused("none/page.html: cannot be written", 2, "--out", "none/page.html")
    refused("is a folder", 2, "--out", "shards")
    assert "</html>" in runs.call([*report, "--out", "/dev/stdout"], BELLWETHER_PYTHON=sys.executable)

    statistics = runs.folder / "run/statistics.h5"
    kept = statistics.read_bytes()
    with h5py.File(statistics, "r+") as file:  # columns as version 0.1.0 named them
        steps = file["steps"][:]
        steps.dtype.names = [name.replace("intra_node_bytes", "inside_node_bytes") for name in steps.dtype.names]
        del file["steps"]
        file["steps"] = steps
    runs.call([*report, "--out", "older.html"], BELLWETHER_PYTHON=sys.executable)
    assert (runs.folder / "older.html").read_bytes() == whole

    def replaced(edit, words, expected=2):
        statistics.unlink()
        with h5py.File(statistics, "w") as file:
            edit(file)
        refused(words, expected)

    def ours(file):
        file.attrs["format"] = np.bytes_(b"bellwether statistics")

    replaced(lambda file: None, "is not a statistics file of Bellwether; name the directory of a run")
    replaced(lambda file: file.attrs.create("format", [1, 2]), "is not a statistics file of Bellwether")
    replaced(ours, "no table 'steps'")

    def later(file):
        ours(file)
        file.attrs["format_version"] = np.bytes_(b"9.0")

    replaced(later, "format_version is '9.0'; allowed: a text that begins with 1.")

    def without_columns(file):
        ours(file)
        file["steps"] = np.zeros(3, [("step", "i8"), ("loss", "f8")])

    replaced(without_columns, "the table 'steps' has no column mlm_loss, ")
    statistics.write_bytes(kept[:len(kept) // 2])
    refused("statistics.h5", 2)
    statistics.write_bytes(b"no HDF5")
    refused("is not an HDF5 file", 2)


def refused_interpreters(runs):
    """`report` tells what each interpreter said, and which of Python's variables are set."""
    runs.train("run", 1, 16, 4)
    for name, value, words in (("PYTHONHOME", "/none", "Error"), ("MPLBACKEND", "nonsense", "'nonsense'"),
                               ("PYTHONPATH", str(runs.folder / "broken"), "RuntimeError: a broken package")):
        (runs.folder / "broken").mkdir(exist_ok=True)
        (runs.folder / "broken/h5py.py").write_text("raise RuntimeError('a broken package')\n")
        told = runs.refuse([runs.program, "report", "run"], 1, BELLWETHER_PYTHON=sys.executable, **{name: value})
        assert told.startswith("error: report needs Python 3 with h5py and matplotlib ") and told.count("\n") == 0, told
        assert f"tried '{sys.executable}' (" in told and words in told, told
        assert f"; {name} is '{value}': unset it if it is the cause" in told, told
    (runs.folder / "inspect.py").write_text("raise RuntimeError('a file of the user')\n")
    runs.call([runs.program, "report", "run", "--out", "beside.html"], PYTHONSAFEPATH="1")
    told = runs.refuse([runs.program, "report", "run"], 1, BELLWETHER_PYTHON=5000 * "x")
    assert f"tried '{255 * 'x'}...' (File name too long); install them, or correct or unset BELLWETHER_PYTHON" in told, told
    assert not (runs.folder / "run/report.html").exists()


def interrupted_report(runs):
    """A signal ends `report` and the interpreter that draws. Nothing is written, and existing files stay."""
    runs.train("run", 1, 16, 4)
    page = runs.folder / "run/report.html"
    page.write_text("<html>before")
    slow = runs.folder / "slow_python"
    slow.write_text(f"#!/bin/sh\ntouch drawing; exec {sys.executable} -c 'import time; time.sleep(600)'\n")
    slow.chmod(0o755)
    before = sorted(path.name for path in (runs.folder / "run").iterdir())
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        (runs.folder / "drawing").unlink(missing_ok=True)
        with subprocess.Popen([runs.program, "report", "run"], cwd=runs.folder, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, BELLWETHER_PYTHON=str(slow))) as process:
            while not (runs.folder / "drawing").exists():
                assert process.poll() is None
                time.sleep(0.01)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            process.send_signal(sent)
            errors = process.stderr.read()
            assert process.wait(timeout=PATIENCE) == 128 + sent and errors == "interrupted: nothing was written\n", (sent, errors)
        assert children and not any(pathlib.Path(f"/proc/{child}").exists() for child in children), children
        assert page.read_text() == "<html>before" and sorted(path.name for path in (runs.folder / "run").iterdir()) == before


if __name__ == "__main__":
    main(globals())
