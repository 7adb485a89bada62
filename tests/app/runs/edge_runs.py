# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs of the program in unusual environments.

    edge_runs.py CASE PROGRAM MPIRUN      CASE: terminal | json_lines | signals | two_jobs | bad_row |
                                            small_batches | directories | lost_output | early_signal | reports"""

import fcntl
import html
import json
import math
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from runs import PATIENCE, h5py, main, np


def on_screen(runs, command, columns):
    """Returns what a terminal of this width displays."""
    keyboard, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, cwd=runs.folder, stdin=subprocess.DEVNULL, stdout=screen) as process:
        os.close(screen)
        shown = b""
        try:
            while portion := os.read(keyboard, 4096):
                shown += portion
        except OSError:  # Linux reports this error after the last writer has closed
            pass
        assert process.wait(timeout=PATIENCE) == 0, shown
    os.close(keyboard)
    return shown.decode()


def terminal(runs):
    """One line is redrawn in place on a terminal. Under a launcher this depends on the launcher's own output."""
    runs.deck("alone", 16, 10)
    shown = on_screen(runs, [runs.program, "train", "alone.yaml"], 72)
    assert len(re.findall(r"\r([^\r\n]+)\x1b\[K", shown)) >= 3, shown
    for name, between in (("direct", []), ("scripted", ["sh", "-c", '"$@"; exit $?', "script"])):
        command = runs.launch(2) + between + [runs.program, "train", f"{name}.yaml"]
        runs.deck(name, 16, 10)
        text = runs.call(command)
        assert "\r" not in text and "step 10/10" in text, text
        shown = on_screen(runs, command + ["--set", f"run.directory={name}_shown"], 72)
        lines = re.findall(r"\r([^\r\n]+)\x1b\[K", shown)
        assert len(lines) >= 3, shown
        for line in lines:
            assert len(line) < 72, line
            assert re.match(r"[ \d]\d/10 loss [\d.]+ +mlm \S+ +lr \S+ +\S+ tok/s +gemm \S+ +left \S+ *$", line), line


def json_lines(runs):
    """Every line of rank 0 is a JSON object, and other ranks print nothing. Steps have the same values as /steps."""
    runs.deck("run", 16, 6, every=3)
    text = runs.call(runs.launch(2) + [runs.program, "train", "run.yaml", "--log", "json"])
    objects = [json.loads(line) for line in text.splitlines()]
    steps = [o for o in objects if o["event"] == "step"]
    evaluations = [o for o in objects if o["event"] == "evaluation"]
    assert {o["event"] for o in objects} == {"note", "step", "evaluation", "checkpoint", "done"}, text
    assert [o["step"] for o in objects if o["event"] == "checkpoint"] == [3, 6], text
    for table, told in (("steps", steps), ("evaluation", evaluations)):
        rows = runs.table("run", table)
        assert len(rows) == len(told) > 0, text
        for row, line in zip(rows, told):
            for column in rows.dtype.names:
                value = math.nan if line[column] is None else line[column]
                assert np.array_equal(row[column], value, equal_nan=True), (column, row[column], value)
    assert all(0 < s["gemm_share"] < 2 and s["seconds_left"] >= 0 and s["steps"] == 6 for s in steps[1:]), text


def signals(runs):
    """Without a launcher: signals from a key press, a closed terminal or a batch system, and a reader that ends."""
    for sent in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):
        name = sent.name
        runs.deck(name, 32, 1000)
        command = [runs.program, "train", f"{name}.yaml", "--log", "lines"]
        rest, code = runs.stop(command, lambda job, sent=sent: job.send_signal(sent))
        assert code == 85, (sent, rest)
        stopped = re.search(r"stopped at step (\d+)", rest).group(1)
        assert (runs.folder / name / f"checkpoints/step_{stopped}/manifest").exists(), rest
        assert runs.table(name)["step"][-1] == int(stopped)

    runs.deck("unread", 16, 10)
    with subprocess.Popen(command[:2] + ["unread.yaml"], cwd=runs.folder, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=PATIENCE) == 0
    assert (runs.folder / "unread/checkpoints/step_10/manifest").exists()


def two_jobs(runs):
    """A run directory in use is refused to a second job, with or without --resume, and the first job is not
    disturbed."""
    runs.deck("run", 32, 20000, 2)
    command = [runs.program, "train", "run.yaml", "--log", "lines"]
    with subprocess.Popen(command, cwd=runs.folder, stdout=subprocess.PIPE, text=True) as process:
        while not (runs.folder / "run/checkpoints/step_2").exists():
            assert process.poll() is None
            time.sleep(0.02)
        for ranks in (1, 2):
            refused = subprocess.run(runs.command("run", ranks, "--resume"), cwd=runs.folder, capture_output=True,
                                     text=True, timeout=PATIENCE, check=False)
            assert refused.returncode == 2, refused
            errors = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1 and f"in use by process {process.pid} on" in errors[0], refused.stderr
        process.send_signal(signal.SIGINT)
        stopped = int(re.search(r"stopped at step (\d+)", process.stdout.read()).group(1))
        assert process.wait(timeout=PATIENCE) == 85
    assert "resumed from" in runs.train("run", 2, 16, stopped + 2, 2, more=("--resume",))


def bad_row(runs):
    """A token id out of range is found during training. All ranks stop before its step and write a checkpoint. After
    the shard is corrected, the run continues and computes the same as an undisturbed run. A fault in the first step's
    samples ends the run before it starts."""
    runs.call([runs.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", "several", "--sequence-length", "64",
               "--rows-per-shard", "100"])
    shards = sorted((runs.folder / "several").glob("*.h5"))
    assert len(shards) > 5, shards

    def spoil(shard):
        with h5py.File(shard, "r+") as file:
            file["input_ids"][7, 1] = runs.vocabulary + 5

    def train(name, expected, *more):
        runs.deck(name, 8, 20)
        # A window of 100 rows is one shard, so the first steps do not read the others.
        done = subprocess.run(runs.command(name, 2, "--set", "data.train=[several]", "--set", "data.window=100", *more),
                              cwd=runs.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == expected, done
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        assert len(errors) == (expected != 0), done.stderr
        return done.stdout, "".join(errors)

    train("whole", 0)
    good = {shard: shard.read_bytes() for shard in shards}
    for shard in shards:
        spoil(shard)
    _, error = train("stopped", 2)
    assert re.search(r"error: (rank 1: )?(--set )?data\.train.*input_ids.*row 7", error), error
    assert not (runs.folder / "stopped").exists()
    train("stopped", 2, "--resume")
    assert not (runs.folder / "stopped").exists()
    first = next(shard for shard in shards if shard.name in error)
    first.write_bytes(good[first])
    _, error = train("stopped", 1)
    step = int(re.search(r"row 7.*a checkpoint of step (\d+) was written", error).group(1))
    assert 0 < step < 20 and first.name not in error, error
    assert (runs.folder / f"stopped/checkpoints/step_{step}/manifest").exists()
    for shard in shards:
        shard.write_bytes(good[shard])
    output, _ = train("stopped", 0, "--resume")
    assert f"step_{step}" in output and "finished at step 20" in output, output
    assert "the samples are the same only if their rows are" in output, output
    runs.compare("whole", "stopped", 20)


def small_batches(runs):
    """With fewer sequences than ranks, ranks without work take part, and the result is that of one rank."""
    for batch in (1, 2):
        for ranks in (1, 3):
            runs.train(f"b{batch}p{ranks}", ranks, 1, 10, more=("--set", f"batch.global={batch}",
                                                                "--set", "statistics.evaluate_sequences=2"))
        for table in ("steps", "evaluation"):
            one, three = runs.table(f"b{batch}p1", table), runs.table(f"b{batch}p3", table)
            assert len(one) == len(three) > 0 and np.isfinite(one["loss"]).all()
            worst = np.max(np.abs(three["loss"] / one["loss"] - 1))
            print(f"batch of {batch}, {table}: largest relative difference of the loss {worst:.2e}")
            assert worst <= 1e-4, (one["loss"], three["loss"])


def directories(runs):
    """The record survives the loss of parts of the run directory. The loss is reported before training starts."""
    run = runs.folder / "run"
    resume = runs.command("run", 1, "--resume")

    def contents():
        return {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != ".lock"}

    runs.train("run", 1, 16, 6, every=3)
    (run / "statistics.h5").unlink()
    before = contents()
    assert "holds a run already" in runs.refuse(runs.command("run", 1))
    assert contents() == before
    runs.train("run", 1, 16, 8, every=3, more=("--resume",))  # the record is created again from its segments
    assert runs.table("run")["step"].tolist() == list(range(1, 9))

    before = contents()
    (run / "checkpoints").rename(runs.folder / "aside")
    output = runs.train("run", 1, 16, 4, more=("--resume",))
    assert "no checkpoint to resume from: starting at step 0; what was recorded before is in" in output, output
    assert len(runs.table("run/unfinished_1")) == 8 and len(runs.table("run")) == 4

    # A record that is older than the checkpoint.
    shutil.copytree(run, runs.folder / "early", ignore=shutil.ignore_patterns("unfinished_*"))
    told = runs.train("early", 1, 16, 6, more=("--resume",))
    assert "the record lacks" not in told, told
    for name in ("statistics.h5", "statistics/segment_000000.h5"):
        shutil.copyfile(run / name, runs.folder / "early" / name)
    told = runs.train("early", 1, 16, 7, more=("--resume",))
    assert "warning: the record lacks rows of steps 5 to 6: it was not written together" in told, told
    assert runs.table("early")["step"].tolist() == [1, 2, 3, 4, 7]

    # A job was killed while moving the record; a file with the name of the folder stays.
    shutil.rmtree(run / "checkpoints")
    (run / "unfinished_2").touch()
    (run / "unfinished_3").mkdir()
    (run / "statistics.h5").rename(run / "unfinished_3/statistics.h5")
    output = runs.train("run", 1, 16, 3, more=("--resume",))
    assert "what was recorded before is in" in output and "unfinished_3" in output, output
    assert len(runs.table("run/unfinished_3")) == 4 and len(runs.table("run")) == 3
    shutil.rmtree(run)
    shutil.rmtree(runs.folder / "aside")
    runs.train("run", 1, 16, 8, every=3)
    before = contents()
    (run / "statistics").rename(runs.folder / "aside")
    for command in (resume, [runs.program, "inspect", "run/statistics.h5"], [runs.program, "report", "run"]):
        assert "run/statistics/segment_000000.h5: missing" in runs.refuse(command, BELLWETHER_PYTHON=sys.executable)
    (runs.folder / "aside").rename(run / "statistics")
    assert contents() == before

    shutil.copytree(run, runs.folder / "moved")  # continues in the same place from any working directory
    runs.call([runs.program, "train", "moved/deck.resolved.yaml", "--resume", "--set", "schedule.steps=9"])
    assert (runs.folder / "moved/checkpoints/step_9/manifest").exists() and contents() == before
    assert "holds a run" in runs.refuse([runs.program, "train", "moved/deck.resolved.yaml"])
    segment = runs.folder / "moved/statistics/segment_000000.h5"
    with h5py.File(segment, "r+") as file:
        rows = file["steps"][:]
        rows["loss"][2] += 1
        file["steps"][:] = rows
    told = runs.refuse([runs.program, "train", "moved/deck.resolved.yaml", "--resume", "--set", "schedule.steps=12"])
    assert "segment_000000.h5: damaged: the checksum of its rows does not match; move statistics.h5 and the folder" in told, told
    os.truncate(segment, 3000)
    told = runs.refuse([runs.program, "train", "moved/deck.resolved.yaml", "--resume", "--set", "schedule.steps=12"])
    assert "segment_000000.h5: " in told and "move statistics.h5 and the folder statistics out of" in told, told
    shutil.rmtree(runs.folder / "moved/statistics")
    (runs.folder / "moved/statistics.h5").unlink()
    output = runs.call([runs.program, "train", "moved/deck.resolved.yaml", "--resume", "--set", "schedule.steps=12"])
    assert "the record begins after step 9" in output and runs.table("moved")["step"].tolist() == [10, 11, 12], output

    check = [runs.program, "check", "run.yaml"]
    done = subprocess.run(check, cwd=runs.folder, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert re.search(r"warning: run\.directory: .*/run holds a run already: train needs --resume", done.stderr), done
    told = runs.refuse(check + ["--strict"])
    assert re.search(r"error: run\.directory: .*/run holds a run already: train needs --resume", told), told
    assert "cannot be made" in runs.refuse(check + ["--set", "run.directory=text.txt/new"])
    done = subprocess.run(check + ["--set", "run.directory=some/new"], cwd=runs.folder, capture_output=True, text=True,
                          timeout=PATIENCE, check=True)
    assert "run.directory" not in done.stderr and not (runs.folder / "some").exists(), done

    for command in (check, runs.command("run", 2)):  # longer than file systems allow
        told = runs.refuse(command + ["--set", f"run.directory={300 * 'x'}"])
        assert re.match(r"error: --set run\.directory=x+(\.\.\.)?: ", told) and told.endswith("File name too long"), told

    (run / "starts.txt").unlink()
    (run / "starts.txt").mkdir()
    told = runs.refuse(runs.command("run", 2, "--resume", "--set", "schedule.steps=9"))
    assert re.search(r"run\.directory: \S+/run/starts\.txt: cannot be read: not a file; repair or remove it$", told), told


def lost_output(runs):
    """A command fails if its output cannot be written. Training goes on and says so once."""
    runs.deck("run", 16, 2)
    shard = str(next((runs.folder / "shards").glob("*.h5")))
    for command in (["check", "run.yaml"], ["check", "--schema"], ["inspect", shard], ["--help"], ["--version"],
                    ["prepare", "text.txt", "--vocab", "vocab.txt", "--out", "again", "--sequence-length", "64"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            told = runs.refuse([runs.program] + command, expected=1, stdout=full)
        assert re.fullmatch("error: standard output: cannot be written(: No space left on device)?", told), (command, told)
    for form in ("lines", "json"):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([runs.program, "train", "run.yaml", "--log", form, "--set", f"run.directory={form}"], cwd=runs.folder,
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0 and done.stderr.count("standard output") == 1, done
        assert "warning: standard output: cannot be written: No space left on device; training goes on, and this log lacks lines\n" in done.stderr
        assert (runs.folder / form / "checkpoints/step_2/manifest").exists() and len(runs.table(form)) == 2
    reader, writer = os.pipe()
    os.close(reader)  # as after `| head`
    done = subprocess.run([runs.program, "train", "run.yaml"], cwd=runs.folder, stdout=writer, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE, check=False)
    os.close(writer)
    assert done.returncode == 0 and "standard output" not in done.stderr, done


def catches(process, number):
    """Returns true if the process handles the signal."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1 == 1


def early_signal(runs):
    """A signal at the very start, here while the deck is read, ends the run after its first step. One that arrives before
    the deck ends the wait for it."""
    runs.deck("early", 16, 50)
    deck = runs.folder / "early.yaml"
    text = deck.read_text()
    command = [runs.program, "train", "/dev/stdin", "--log", "lines", "--set", "run.directory=early",
               "--set", "data.train=shards", "--set", "data.heldout=shards/heldout"]

    def wait_for_handler(process):
        while not catches(process.pid, signal.SIGUSR1):
            assert process.poll() is None
            time.sleep(0.01)

    for sent in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(command, cwd=runs.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            wait_for_handler(process)
            process.send_signal(sent)
            assert process.wait(timeout=PATIENCE) == 128 + sent
            told = process.stderr.read()
        assert "interrupted: no deck was read, and nothing was trained" in told and not (runs.folder / "early").exists(), told

    with subprocess.Popen(command, cwd=runs.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        wait_for_handler(process)
        process.send_signal(signal.SIGSTOP)  # otherwise the signal could end the wait for the deck
        process.stdin.write(text)
        process.stdin.close()
        process.send_signal(signal.SIGUSR1)
        process.send_signal(signal.SIGCONT)
        output = process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 85, output
    assert "stopped at step 1 by a signal;" in output and (runs.folder / "early/checkpoints/step_1/manifest").exists(), output


def reports(runs):
    """The page has the run's name, unique ids and plain numbers at its axes, and names the tensors it does not show."""
    try:
        import matplotlib  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(4)
    runs.train("run", 1, 16, 8, more=("--set", "run.name=one <more> try"))
    runs.call([runs.program, "report", "run"], BELLWETHER_PYTHON=sys.executable)
    page = (runs.folder / "run/report.html").read_text()
    shown = runs.call([runs.program, "report", "run", "--out", "-"], BELLWETHER_PYTHON=sys.executable)
    assert shown.lstrip().lower().startswith("<!doctype html") and shown.rstrip().endswith("</html>"), shown[-200:]
    assert not (runs.folder / "-").exists()
    for place in ("title", "h1"):
        assert f"<{place}>one &lt;more&gt; try (run)</{place}>" in page, page[:2000]
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 100, len(ids)
    used = {one or other for one, other in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)}
    assert used and used <= set(ids), used - set(ids)
    assert "<!-- norm of the mean gradient -->" in page or "<!-- gradient norm -->" in page, page[:2000]
    assert "\\times" not in page
    assert re.search(r"<p>Not shown.*layer\.0\.attention\.self\.key\.bias", page)
    assert "<h2>Gradient noise scale</h2>" in page and "Too few steps for an estimate" in page, page[:2000]
    assert "freeze" not in page
    reports_freeze(runs)


def reports_freeze(runs):
    """The parts that a 1-bit method adds to the page."""
    runs.train("onebit", 2, 8, 8, more=("--set", "optimizer.method=onebit_lamb", "--set", "optimizer.freeze.step=4",
                                        "--set", "statistics.noise_beta=0.5"))

    runs.call([runs.program, "report", "onebit"], BELLWETHER_PYTHON=sys.executable)
    page = (runs.folder / "onebit/report.html").read_text()
    for heading in ("Around the freeze after step 4", "Gradient noise scale", "Error of the worker's compression by layer",
                    "Error of the server's compression by layer", "Agreement of a rank's signs with the mean's by layer"):
        assert f"<h2>{heading}</h2>" in page, heading
    assert "this run's batch is 32" in html.unescape(page)
    for row in (r"sent in 4 steps before the freeze</th><td>[\d.,]+ MB, 0.00 MB of them scalars",
                r"sent in 4 steps after the freeze</th><td>[\d.,]+ MB: to servers \(all-to-all\) [\d.]+ MB, from them "
                r"\(all-gather\) [\d.]+ MB, scalars and sketches [\d.]+ MB",
                r"dense means in 16 bit over these steps</th><td>[\d.]+ MB, \d\.\d\d times as much; \d\.\d\d without"):
        assert re.search(row, page), page[:3000]
    for method in ("onebit_lamb", "onebit_adam", "onebit_sgd"):
        reports_jump(runs, method)


def reports_jump(runs, method):
    """The page shows the norms of the ten steps on either side of the freeze. The log and the page report a jump."""
    more = ("--set", f"optimizer.method={method}", "--set", "optimizer.freeze.step=4", "--set", "optimizer.lr=0.001")
    runs.train(method, 2, 8, 8, every=8, more=more)
    with h5py.File(runs.folder / method / "statistics.h5", "r") as file:
        layers = file["layers"]
        name = layers["name"].asstr()[2]
        assert layers["step"][:].tolist() == list(range(1, 9))
        for quantity in ("weight_norm", "update_norm", "momentum_norm", "largest_update"):
            values = layers[quantity][:]
            assert np.isfinite(values).all() and (np.median(values, axis=1) > 0).all(), (method, quantity, values)
        assert (layers["largest_update"][:] <= 1.0001 * layers["update_norm"][:]).all(), method
    with h5py.File(runs.folder / method / "statistics/segment_000000.h5", "r+") as file:
        norms = file["layers/update_norm"]
        norms[:8] = 1
        norms[4:8, 2] = 5
        del file.attrs["xxh3"]  # like files of earlier versions: without a checksum, these values are accepted
    told = runs.train(method, 2, 8, 8, every=8, more=("--resume", *more))
    assert "warning: update norms just after the freeze at step 4 are not within a factor of 3" in told, told
    assert f"(ratio of medians): {name} (5)\n" in told, told
    runs.call([runs.program, "report", method], BELLWETHER_PYTHON=sys.executable)
    page = (runs.folder / method / "report.html").read_text()
    assert '<p class="warning">Warning: Update norms just after the freeze at step 4' in page
    assert f"in brackets): {name} (5)." in page
    drawn = ["update norm by layer", "momentum norm by layer", "largest |u| by layer"]
    for label in drawn + ["trust ratio by layer"] * (method == "onebit_lamb"):
        assert f"<!-- {label} -->" in page, (method, label)


if __name__ == "__main__":
    main(globals())
