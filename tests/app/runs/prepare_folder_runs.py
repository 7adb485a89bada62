# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what `bellwether prepare` leaves in folders: after signals, on full disks, and beside files of others.

    prepare_folder_runs.py CASE PROGRAM      CASE: stops | full_disk | few_files | leaves_alone | mounted

Exits with 4 (skipped for ctest) if h5py or NumPy is missing."""

import gzip
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from prepare_runs import Folder, documents, paragraphs


class Working:
    """A call that takes long. It is detected when a name in OUT.partial matches `pattern`."""

    def __init__(self, folder, out, pattern):
        self.process = subprocess.Popen([folder.program, "prepare", "big.txt", "--vocab", "vocab.txt", "--out", out,
                                         "--duplicate", "900"], cwd=folder.path, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.time() + 120
        while not list(folder.path.glob(f"{out}.partial/{pattern}")):
            assert self.process.poll() is None and time.time() < deadline, self.process.returncode
            time.sleep(0.01)

    def stop(self, number):
        self.process.send_signal(number)
        return self.process.wait(120)


def stops(folder):
    """A signal ends the call while it reads and while it writes rows. No files are left behind."""
    folder.write("big.txt", paragraphs(documents(200, 2000)))
    for pattern, number in [("vocab.txt", signal.SIGINT), ("train_00000.h5*", signal.SIGINT),
                            ("train_00000.h5*", signal.SIGTERM)]:
        code = Working(folder, "new/stopped", pattern).stop(number)
        assert code == 128 + number, (pattern, number, code)
        assert not (folder.path / "new").exists(), "an interrupted call left something behind"
    # Standard input that neither ends nor delivers anything more.
    for text in (b"", b"aa ab ac.\n", gzip.compress(b"aa ab ac.\n")[:15]):
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([folder.program, "prepare", "-", "--vocab", "vocab.txt", "--out", "piped"], cwd=folder.path,
                                  stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(text)
                process.stdin.flush()
                while not (folder.path / "piped.partial" / "vocab.txt").exists():
                    assert process.poll() is None
                    time.sleep(0.01)
                time.sleep(0.2)  # the text is read
                process.send_signal(number)
                assert process.wait(timeout=60) == 128 + number
                assert process.stderr.read() == b"interrupted: nothing was written\n"
            assert not list(folder.path.glob("piped*")), "an interrupted call left something behind"
    command = [folder.program, "prepare", "big.txt", "--vocab", "/dev/stdin", "--out", "piped"]
    with subprocess.Popen(command, cwd=folder.path, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while not int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16) >> (signal.SIGTERM - 1) & 1:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
        assert process.stderr.read() == b"interrupted: nothing was written\n"


def full_disk(folder):
    """A full disk, simulated by a limit on file sizes, is no fault of the input: exit code 1. No files are left behind."""
    folder.write("text.txt", paragraphs(documents(150)))
    trained = ["--train-vocab", "100"]
    for arguments in (["--vocab", "vocab.txt", "--out", "new/full"], [*trained, "--out", "new/full"],
                      [*trained, "--vocab", "new.txt"], [*trained, "--vocab", "new.txt", "--out", "new/full"]):
        for limit in (0, 200, 10_000):  # bytes: the marker, the vocabulary or a shard does not fit
            done = subprocess.run([folder.program, "prepare", "text.txt", *arguments], cwd=folder.path, capture_output=True,
                                  text=True, timeout=600, check=False,
                                  preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            if limit == 10_000 and "--out" not in arguments:
                assert done.returncode == 0, done
                (folder.path / "new.txt").unlink()
                continue
            assert done.returncode == 1, (arguments, limit, done)
            assert re.fullmatch("error: new[^ ]*: cannot be written: File too large\n", done.stderr), (arguments, limit, done)
            assert not list(folder.path.glob("new*")), (arguments, limit)


def few_files(folder):
    """Too low a limit on open files is no fault of the input: exit code 1 with the limit. No files are left behind."""
    folder.write("text.txt", paragraphs(documents(150)))
    codes = []
    for limit in range(4, 40):
        def limited(*arguments, limit=limit):
            return subprocess.run([folder.program, *arguments], cwd=folder.path, capture_output=True, text=True, timeout=600, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))

        if limited("--version").returncode != 0:  # its libraries need more files
            continue
        done = limited("prepare", "text.txt", "--vocab", "vocab.txt", "--out", "new/few", "--heldout", "0.2")
        codes.append(done.returncode)
        if done.returncode == 0:
            break
        assert done.returncode == 1, (limit, done)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1 and errors[0].endswith(f": Too many open files; limits here: `ulimit -n` {limit} open files of this process; "
                                                       "raise one"), (limit, done)
        assert not list(folder.path.glob("new*")), limit
    assert codes[-1] == 0 and 1 in codes, codes


def leaves_alone(folder):
    """Files that do not belong to this call stay unchanged: a user's folder, another call's, and files of a failing
    call."""
    folder.write("text.txt", paragraphs(documents(150)))
    folder.write("empty.txt", "\n\n")
    good = ["text.txt", "--vocab", "vocab.txt", "--out"]
    (folder.path / "mine.partial").mkdir()
    folder.write("mine.partial/notes.txt", "mine")
    errors = folder.run(*good, "mine", expected=2)
    assert "mine.partial: exists already and was not made by prepare" in errors, errors
    assert (folder.path / "mine.partial" / "notes.txt").read_text() == "mine"
    folder.write("file.partial", "mine")
    folder.run(*good, "file", expected=2)
    assert (folder.path / "file.partial").read_text() == "mine"
    # The files of a killed call are replaced.
    (folder.path / "again.partial").mkdir()
    folder.write("again.partial/.bellwether-prepare", "process 1 on nowhere\n")
    folder.write("again.partial/train_00007.h5", "rubbish")
    folder.run(*good, "again")
    assert sorted(path.name for path in (folder.path / "again").iterdir()) == ["train_00000.h5", "vocab.txt"]
    assert not (folder.path / "again.partial").exists()
    # A running call keeps its folder.
    folder.write("big.txt", paragraphs(documents(200, 2000)))
    working = Working(folder, "busy", "train_00000.h5*")
    errors = folder.run(*good, "busy", expected=2)
    assert f"busy.partial: is in use by process {working.process.pid} on " in errors, errors
    assert list(folder.path.glob("busy.partial/train_00000.h5*"))
    assert working.stop(signal.SIGINT) == 130
    # An empty folder is filled, also through a link; one that cannot be filled is rejected before the work.
    (folder.path / "real").mkdir()
    (folder.path / "link").symlink_to("real")
    folder.run(*good, "link")
    assert (folder.path / "link").is_symlink() and (folder.path / "real" / "vocab.txt").exists()
    (folder.path / "here").mkdir()
    done = subprocess.run([folder.program, "prepare", "../text.txt", "--vocab", "../vocab.txt", "--out", "."],
                          cwd=folder.path / "here", capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2 and "error: .: is the working directory; --out must" in done.stderr, done.stderr
    assert not list(folder.path.glob("here*/*")) and not (folder.path / "here.partial").exists()
    # A trained vocabulary appears together with the shards or not at all.
    train = ["--train-vocab", 100, "--vocab", "new.txt"]
    folder.run("empty.txt", *train, "--out", "trained", expected=2)
    assert not list(folder.path.glob("new.txt*")) and not list(folder.path.glob("trained*"))
    folder.run("text.txt", *train, "--out", "trained")
    assert (folder.path / "new.txt").read_text() == (folder.path / "trained" / "vocab.txt").read_text()
    folder.run("text.txt", *train, "--out", "other", expected=2)
    assert not list(folder.path.glob("other*")) and len(list(folder.path.glob("new.txt*"))) == 1


def mounted(folder):
    """An empty mount point, which containers use for results, cannot be renamed: this is reported before the work."""
    folder.write("text.txt", paragraphs(documents(150)))
    place = folder.path / "an empty disk"
    place.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, text=True, check=False)
    if mount.returncode != 0:
        print(f"skipped: {mount.stderr.strip()}")
        sys.exit(4)
    try:
        errors = folder.run("text.txt", "--vocab", "vocab.txt", "--out", place, expected=2)
        folder.run("text.txt", "--vocab", "vocab.txt", "--out", place / "shards")
    finally:
        subprocess.run(["umount", place], check=True)
    assert f"error: {place}: is a mount point; --out must name" in errors, errors
    assert not list(folder.path.glob("*.partial"))


def main(case, program):
    with tempfile.TemporaryDirectory() as path:
        {"stops": stops, "full_disk": full_disk, "few_files": few_files, "leaves_alone": leaves_alone,
         "mounted": mounted}[case](Folder(program, path))


if __name__ == "__main__":
    main(sys.argv[1], os.path.abspath(sys.argv[2]))
