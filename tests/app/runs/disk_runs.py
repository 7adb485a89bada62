# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs in which files cannot be written or locked.

    disk_runs.py CASE PROGRAM MPIRUN FAILING_FILES      CASE: full_disk | full_disk_for_a_while | one_rank | quota |
                                                         read_only | no_locks

FAILING_FILES is the library built from failing_files.c."""

import errno
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from runs import PATIENCE, compare_checkpoints, main, newest_checkpoint, ranks_of


def full_disk(runs):
    """A full disk ends the run with one error that names the file; files written before stay valid. A limit on file
    sizes, set during the run, simulates the full disk."""
    checkpoint = ("checkpoint", 2, 1_000_000, r"step_\d+\.part/replicated\.h5", "checkpoints/step_2")
    table = ("statistics", 0, 1000, r"statistics(/segment_000000)?\.h5\.part", "statistics.h5")
    for ranks, (what, every, limit, file, first) in ((1, checkpoint), (2, checkpoint), (2, table)):
        name = f"{what}{ranks}"
        runs.deck(name, 16, 300, every)
        command = runs.command(name, ranks)[0 if ranks > 1 else len(runs.launch(1)):]
        process = subprocess.Popen(command + ["--set", f"statistics.flush={100 if every else 4}"], cwd=runs.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # The first segment exists before statistics.h5 shows its rows.
        while not (runs.folder / name / first).exists() or (not every and len(runs.table(name)) == 0):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        for rank in ranks_of(process, ranks):
            resource.prlimit(rank, resource.RLIMIT_FSIZE, (limit, limit))
        output = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 1, (process.returncode, output)
        errors = [line for line in output.splitlines() if "error: " in line]
        assert len(errors) == 1, output
        assert output.count("training goes on") == 2, output  # checkpoint.failure_limit: 3
        assert re.search(file + r".*cannot be written: File too large$", errors[0]), output
        assert "egmentation" not in output and "signal" not in output, output
        done = [int(folder.parent.name[5:]) for folder in (runs.folder / name).glob("checkpoints/step_*[0-9]/manifest")]
        last = runs.train(name, ranks, 16, max(done, default=0) + 2, every, more=("--resume",))
        assert "finished at step" in last, last
        if every:
            assert "resumed from" in last, last
        else:
            assert f"what was recorded before is in {runs.folder}/{name}/unfinished_1" in last, last
            assert len(runs.table(f"{name}/unfinished_1")) > 0
    # The next job must not stop because the last checkpoint of this one could not be written.
    stop = runs.folder / "checkpoint1/stop"
    runs.deck("checkpoint1", 16, 100000)
    command = [runs.program, "train", "checkpoint1.yaml", "--log", "lines", "--resume"]
    with subprocess.Popen(command, cwd=runs.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        wait_for_step(process, 1)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        stop.touch()
        output = process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 1 and "error: checkpoint not written: " in output, output
    assert not stop.exists() and not list((runs.folder / "checkpoint1/checkpoints").glob("*.part"))


def full_disk_for_a_while(runs):
    """If checkpoints cannot be written for a while, there are warnings, training continues, and later ones are
    complete."""
    runs.deck("run", 16, 3000, 2)
    with subprocess.Popen(runs.command("run", 2) + ["--set", "checkpoint.failure_limit=100000", "--set", "statistics.flush=3000"],
                          cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not (runs.folder / "run/checkpoints/step_2").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        ranks = ranks_of(process, 2)
        room = resource.prlimit(ranks[0], resource.RLIMIT_FSIZE)
        for rank in ranks:
            resource.prlimit(rank, resource.RLIMIT_FSIZE, (1_000_000, room[1]))
        told = next(line for line in process.stdout if "not written" in line)
        for rank in ranks:
            resource.prlimit(rank, resource.RLIMIT_FSIZE, room)
        assert re.search(r"step \d+: checkpoint not written: .*step_\d+\.part/replicated\.h5.*File too large; training goes on", told), told
        failed = int(re.search(r"step_(\d+)\.part", told)[1])
        while not any(int(path.name[5:]) > failed + 10 for path in (runs.folder / "run/checkpoints").glob("step_*[0-9]")):
            assert process.poll() is None, "the run ended without a further checkpoint"
            time.sleep(0.02)
        os.kill(ranks[1], signal.SIGTERM)
        process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 85
    assert not list((runs.folder / "run/checkpoints").glob("*.part"))  # no files of the failed checkpoints remain


def contents(folder):
    """Returns every file below a folder, byte for byte."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def failing(calls, paths, reason, **more):
    """Returns the environment of a program whose system calls fail as specified (failing_files.c)."""
    # The address sanitizer must be loaded first; only a library that forwards calls to it may precede it.
    sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
    return dict(LD_PRELOAD=sys.argv[4], FAILING_CALLS=calls, FAILING_PATHS=paths, FAILING_ERRNO=str(reason), ASAN_OPTIONS=sanitizer,
                **more)


def settings(*texts):
    return [word for text in texts for word in ("--set", text)]


def wait_for_step(process, wanted):
    for line in process.stdout:
        if (told := re.match(r"step (\d+)/", line)) and int(told[1]) >= wanted:
            return
    assert False, f"the run ended before step {wanted}"


ONEBIT = settings("optimizer.method=onebit_lamb", "optimizer.freeze.step=3")
CHANGES = "open,mkdir,write,rename,remove,access"  # calls that a read-only file system refuses
ENDLESS = settings("schedule.decay=constant", "schedule.warmup_steps=3", "checkpoint.failure_limit=100000")


def for_a_while(runs, more, begin, end, warning, **environment):
    """Checks a fault that lasts for two checkpoints. Warnings name them, training continues, older checkpoints stay
    unchanged and later ones are complete. This run and the one that resumes it compute the same as an undisturbed
    run."""
    runs.deck("run", 16, 3000, 2)
    checkpoints = runs.folder / "run/checkpoints"
    with subprocess.Popen(runs.command("run", 2, *more), cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=dict(os.environ, **environment)) as process:
        wait_for_step(process, 10)
        rank = ranks_of(process, 2)[1]
        begin(rank)
        first = next(line for line in process.stdout if "not written" in line)
        before = {path: held for path, held in contents(checkpoints).items() if ".part" not in path.parent.name}
        second = next(line for line in process.stdout if "not written" in line)
        end(rank)
        for line in (first, second):
            assert re.search(f"warning: step \\d+: checkpoint not written: {warning}; training goes on", line), line
        failed = int(re.search(r"step_(\d+)\.part", second)[1])
        while not (checkpoints / f"step_{failed + 10}/manifest").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        os.kill(rank, signal.SIGTERM)
        process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 85
    assert any(path.name == "rank1.h5" for path in before), before.keys()
    after = contents(checkpoints)
    assert all(after[path] == held for path, held in before.items())
    assert not (checkpoints / f"step_{failed}").exists() and not list(checkpoints.glob("*.part"))
    last = int(newest_checkpoint(runs.folder / "run").name[5:]) + 3
    assert "resumed from" in runs.train("run", 2, 16, last, 2, more=("--resume", *more))
    runs.train("undisturbed", 2, 16, last, more=more)
    runs.compare("undisturbed", "run", last)


def one_rank(runs):
    """After the freeze every rank has its own file in a checkpoint; here one rank cannot write its file."""
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    for_a_while(runs, (*ENDLESS, *ONEBIT), lambda rank: resource.prlimit(rank, resource.RLIMIT_FSIZE, (100_000, room[1])),
                lambda rank: resource.prlimit(rank, resource.RLIMIT_FSIZE, room),
                r"rank 1: \S+/step_\d+\.part/rank1\.h5: .*cannot be written: File too large")


def quota(runs):
    """A quota is reported when a file is written or, on network file systems, when it is synchronised. The checkpoint
    is skipped with a warning that names the file. If the record cannot be written, one error ends the run. Afterwards
    the run can be resumed and computes the same as an undisturbed run."""
    runs.train("whole", 2, 16, 8, 2, more=ONEBIT)
    for call, file in (("write", "replicated.h5"), ("sync", "replicated.h5"), ("write", "rank1.h5"), ("write", "manifest")):
        name = f"{call}_{file}"
        told = runs.train(name, 2, 16, 8, 2, more=ONEBIT, **failing(call, f"step_6.part/{file}", errno.EDQUOT))
        found = re.findall(r"^warning: step \d: checkpoint not written: (.*)$", told, re.MULTILINE)
        rank = "rank 1: " if file.startswith("rank") else ""
        assert len(found) == 1, told
        assert re.fullmatch(rf"{rank}\S+/checkpoints/step_6\.part/{re.escape(file)}: cannot be (created|written( to the device)?): Disk quota "
                            "exceeded; training goes on, and the newest complete checkpoint is kept", found[0]), told
        assert sorted(path.name for path in (runs.folder / name / "checkpoints").iterdir()) == ["step_2", "step_4", "step_8"]
        compare_checkpoints(runs.folder / "whole/checkpoints/step_4", runs.folder / name / "checkpoints/step_4")
        runs.compare("whole", name, 8)
    runs.deck("run", 16, 8, 2)
    resume = runs.command("run", 2, "--resume", *ONEBIT)
    for file in (".lock", "deck.resolved.yaml", "starts.txt", "statistics/segment_000000.h5"):
        told = runs.refuse(resume, 1, **failing("write", f"run/{file}", errno.EDQUOT))
        assert told.count("error: ") == 1, told
        assert re.search(rf"{re.escape(file)}(\.part)?: cannot be (created|written): Disk quota exceeded$", told), told
    runs.call(resume)
    runs.compare("whole", "run", 8)


def read_only(runs):
    """A file system becomes read-only during a run, as Linux does after errors. If it holds only the checkpoints,
    training continues. If it holds the whole run, one error ends the run. The run can then be read, but not started.
    Once the file system is writable again, the run computes the same as an undisturbed run."""
    switch = runs.folder / "now"
    place = f"{runs.folder.name}/run"
    for_a_while(runs, (*ENDLESS, *ONEBIT), lambda rank: switch.touch(), lambda rank: switch.unlink(),
                r"\S+/checkpoints/step_\d+(\.part)?(/\S+)?: .*cannot be [\w ]+: Read-only file system",
                **failing(CHANGES, f"{place}/checkpoints/", errno.EROFS, FAILING_WHILE=str(switch)))
    shutil.rmtree(runs.folder / "run")

    environment = failing(CHANGES, place, errno.EROFS, FAILING_WHILE=str(switch))
    more = tuple(word.replace("failure_limit=100000", "failure_limit=5") for word in (*ENDLESS, *ONEBIT))
    runs.deck("run", 16, 3000, 2)
    with subprocess.Popen(runs.command("run", 2, *more), cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **environment)) as process:
        wait_for_step(process, 10)
        switch.touch()
        told = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 1, told
    assert told.count("error: ") == 1, told
    assert re.search(r"error: (checkpoint not written: )?\S+/run/(statistics|checkpoints)\S*: .*cannot be [\w ]+: Read-only file system$",
                     told, re.MULTILINE), told
    before = contents(runs.folder / "run")
    for ranks in (1, 2):
        told = runs.refuse(runs.command("run", ranks, "--resume", *more), **environment)
        assert re.fullmatch(r"error: run\.yaml:\d+:\d+: run\.directory: \S+/run: \S+/run/\.lock: cannot be written: "
                            "Read-only file system", told), told
    told = runs.refuse([runs.program, "check", "run.yaml"], **environment)
    assert re.fullmatch(r"error: run\.yaml:\d+:\d+: run\.directory: \S+/run cannot be written: Read-only file system", told), told
    assert "/steps" in runs.call([runs.program, "inspect", "run/statistics.h5"], **environment)
    assert contents(runs.folder / "run") == before
    switch.unlink()
    last = int(newest_checkpoint(runs.folder / "run").name[5:]) + 3
    assert "resumed from" in runs.train("run", 2, 16, last, 2, more=("--resume", *more), **environment)
    runs.train("again", 2, 16, last, more=more)
    runs.compare("again", "run", last)


def no_locks(runs):
    """File systems without locks report this in several ways. Everything works there, and a run warns that nothing
    prevents a second job."""
    assert "has no locks" not in runs.train("whole", 2, 16, 8, 2, more=ONEBIT)

    def prepared(out, **environment):
        runs.call([runs.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", out, "--sequence-length", "64",
                   "--heldout", "0.1"], **environment)
        return {path.relative_to(runs.folder / out): held for path, held in contents(runs.folder / out).items()}

    with_locks = prepared("with_locks")
    for reason in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
        name, environment = f"run{reason}", failing("lock", "", reason)
        for more in ((), ("--resume",)):
            shutil.rmtree(runs.folder / name / "checkpoints/step_8", ignore_errors=True)
            told = runs.train(name, 2, 16, 8, 2, more=(*ONEBIT, *more), **environment)
            assert told.count("has no locks") == 1, told
            assert (f"warning: run.directory: the file system of {runs.folder}/{name} has no locks: nothing prevents another job from "
                    "running there at the same time") in told, told
            assert (f"resumed from {runs.folder}/{name}/checkpoints/step_6" in told) == bool(more), told
        runs.compare("whole", name, 8)
        assert "/steps" in runs.call([runs.program, "inspect", f"{name}/statistics.h5"], **environment)
        assert prepared(f"shards{reason}", **environment) == with_locks
    try:
        import matplotlib  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError as missing:
        print(f"report: not asked for: {missing}")
        return
    runs.call([runs.program, "report", "whole"], BELLWETHER_PYTHON=sys.executable, **failing("lock", "", errno.ENOLCK))


if __name__ == "__main__":
    main(globals())
