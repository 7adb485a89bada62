# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""What `bellwether prepare` makes of texts, seen from outside.

    prepare_runs.py CASE PROGRAM      CASE: rows | repeats | refuses | memory | holds_out_nothing

Exits with 4, ctest's sign for skipped, where h5py or NumPy is missing."""

import gzip
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TENSORS = ["input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels"]


def word(number):
    return LETTERS[number // 26 % 26] + LETTERS[number % 26]


def documents(count, sentences=20, seed=7):
    """Documents of sentences of two-letter words; every word occurs in one document only, 3 of 676 a document."""
    rng = random.Random(seed)
    return [[" ".join(word(3 * d + rng.randrange(3)) for _ in range(rng.randrange(4, 12))) + "."
             for _ in range(sentences)] for d in range(count)]


class Folder:
    def __init__(self, program, path):
        self.program, self.path = program, pathlib.Path(path)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."] + [word(n) for n in range(676)]
        (self.path / "vocab.txt").write_text("\n".join(words) + "\n")

    def write(self, name, text):
        (self.path / name).write_text(text)

    def run(self, *arguments, expected=0):
        done = subprocess.run([self.program, "prepare", *map(str, arguments)], cwd=self.path, capture_output=True,
                              text=True, timeout=600, check=False)
        assert done.returncode == expected, f"{arguments}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stderr if expected else done.stdout

    def rows(self, folder):
        shards = []
        for path in sorted((self.path / folder).glob("*.h5")):
            with h5py.File(path) as shard:
                shards.append([shard[name][:] for name in TENSORS])
        return dict(zip(TENSORS, [np.concatenate(parts) for parts in zip(*shards)]))


def paragraphs(docs):
    return "\n\n".join("\n".join(doc) for doc in docs) + "\n"


def document_of(ids):
    return {(int(i) - 6) // 3 for i in ids if i > 5}


def rows(folder):
    """BERT's procedure: pairs, segments, masks; documents held out are not trained on."""
    docs = documents(200)
    folder.write("text.txt", paragraphs(docs))
    folder.run("text.txt", "--vocab", "vocab.txt", "--out", "shards", "--sequence-length", 64, "--masking", "static",
               "--heldout", 0.1, "--duplicate", 4)
    train, held = folder.rows("shards"), folder.rows("shards/heldout")
    seen = {True: 0, False: 0}
    kinds = dict(mask=0, kept=0, other=0)
    owners = [set(), set()]
    for owner, data in zip(owners, (train, held)):
        for ids, mask, segments, positions, labels, random_next in zip(*(data[name] for name in TENSORS)):
            length, count = int(mask.sum()), int((positions > 0).sum())
            assert (mask[:length] == 1).all() and ids[0] == 2 and ids[length - 1] == 3 and (ids[length:] == 0).all()
            assert count == max(1, min(12, round(0.15 * length))), (count, length)
            assert (np.diff(positions[:count]) > 0).all() and (positions[:count] < length).all()
            original = ids.copy()
            original[positions[:count]] = labels[:count]
            for before, after in zip(labels[:count], ids[positions[:count]]):
                kinds["mask" if after == 4 else "kept" if after == before else "other"] += 1
            ends = np.flatnonzero(original[:length] == 3)
            assert len(ends) == 2 and (segments[:ends[0] + 1] == 0).all()
            assert (segments[ends[0] + 1:length] == 1).all()
            first, second = document_of(original[:ends[0]]), document_of(original[ends[0] + 1:length])
            assert len(first) == len(second) == 1 and (first == second) == (random_next == 0)
            owner |= first | second
            seen[bool(random_next)] += 1
    assert not owners[0] & owners[1] and len(owners[0] | owners[1]) == 200 and 8 <= len(owners[1]) <= 35, owners[1]
    total = sum(kinds.values())
    for kind, share in dict(mask=0.8, kept=0.1, other=0.1).items():
        assert abs(kinds[kind] / total - share) < 4 * (share * (1 - share) / total) ** 0.5 + 0.002, kinds
    assert 0.45 < seen[True] / sum(seen.values()) < 0.65, seen
    rows_of_pass = len({tuple(row) for row in train["input_ids"].tolist()})
    assert rows_of_pass > 0.99 * len(train["input_ids"]), "passes repeat each other's pairs"


def repeats(folder):
    """Threads, compression and line breaks change nothing; the seed does."""
    docs = documents(150)
    folder.write("text.txt", paragraphs(docs))
    with gzip.open(folder.path / "text.txt.gz", "wt") as file:
        file.write(paragraphs(docs))
    wrapped = "\n\n".join(" ".join(doc).replace(" ", "\n", 5).replace(". ", ".\n ", 3) for doc in docs) + "\n"
    folder.write("wrapped.txt", wrapped)
    folder.write("joined.txt", "\n\n".join(" ".join(doc) for doc in docs) + "\n")
    same = ["--vocab", "vocab.txt", "--sequence-length", 32, "--masking", "static", "--rows-per-shard", 100]
    for out, more in dict(a=["text.txt", "--threads", 1], b=["text.txt", "--threads", 4],
                          c=["text.txt.gz", "--threads", 3], d=["text.txt", "--seed", 2],
                          e=["wrapped.txt", "--wrapped"], f=["joined.txt"]).items():
        folder.run(*more, *same, "--out", out)
    results = {out: folder.rows(out) for out in "abcdef"}
    assert len(list((folder.path / "a").glob("*.h5"))) > 3

    def equal(one, other):
        return all(np.array_equal(results[one][name], results[other][name]) for name in TENSORS)

    assert equal("a", "b") and equal("a", "c") and not equal("a", "d") and equal("e", "f")


def refuses(folder):
    """One clear error, exit code 2, and nothing left behind."""
    folder.write("text.txt", paragraphs(documents(150)))
    with gzip.open(folder.path / "whole.gz", "wt") as file:
        file.write(paragraphs(documents(150)))
    whole = (folder.path / "whole.gz").read_bytes()
    (folder.path / "cut.gz").write_bytes(whole[:len(whole) // 2])
    folder.write("empty.txt", "\n\n")
    folder.write("bad_vocab.txt", "a\nb\n")
    good = ["--vocab", "vocab.txt", "--out", "shards"]
    for arguments, words in [
            (["missing.txt", *good], "missing.txt"),
            (["cut.gz", *good], "cut.gz"),
            (["empty.txt", *good], "empty.txt"),
            (["text.txt", "--vocab", "missing_vocab.txt", "--out", "shards"], "missing_vocab.txt"),
            (["text.txt", "--vocab", "bad_vocab.txt", "--out", "shards"], "bad_vocab.txt"),
            (["text.txt", *good, "--heldout", "1.5"], "--heldout"),
            (["text.txt", *good, "--heldout", "nan"], "--heldout"),
            (["text.txt", *good, "--sequence-length", "4"], "--sequence-length"),
            (["text.txt", *good, "--max-predictions", "500"], "--max-predictions"),
            (["text.txt", "--vocab", "vocab.txt"], "--out"),
            (["text.txt", *good, "--mask", "static"], "--mask")]:
        errors = folder.run(*arguments, expected=2)
        assert words in errors and len(errors) < 700, (arguments, errors)
        assert not list(folder.path.glob("shards*")), arguments
    folder.run("text.txt", *good)
    before = {path: path.read_bytes() for path in (folder.path / "shards").iterdir()}
    assert "shards" in folder.run("text.txt", *good, expected=2)  # never over what is there
    assert before == {path: path.read_bytes() for path in (folder.path / "shards").iterdir()}
    folder.write("big.txt", paragraphs(documents(200, 4000)))
    process = subprocess.Popen([folder.program, "prepare", "big.txt", "--vocab", "vocab.txt", "--out", "stopped",
                                "--duplicate", "20"], cwd=folder.path, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    deadline = time.time() + 20
    while not (folder.path / "stopped.partial").exists() and process.poll() is None and time.time() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(600) not in (0, -signal.SIGSEGV, -signal.SIGABRT)
    assert not list(folder.path.glob("stopped*")), "an interrupted call left something behind"


def holds_out_nothing(folder):
    """A share too small for the text is told, and leaves no empty folder that a deck could name."""
    folder.write("text.txt", paragraphs(documents(2)))
    command = [folder.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", "shards", "--heldout", "0.001"]
    done = subprocess.run(command, cwd=folder.path, capture_output=True, text=True, timeout=600, check=True)
    assert "warning: nothing is held out" in done.stderr and "held out  0 rows" in done.stdout, (done.stdout, done.stderr)
    assert sorted(path.name for path in (folder.path / "shards").iterdir()) == ["train_00000.h5", "vocab.txt"]


def memory(folder):
    """A corpus six times as large takes no more memory."""
    window = ["--vocab", "vocab.txt", "--window", 200000, "--rows-per-shard", 2000]
    # The address sanitizer keeps what was freed, to find late uses.
    environment = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
    peaks = []
    for copies in (4, 24):
        text = paragraphs(documents(200, 1000))
        folder.write("text.txt", "\n".join([text] * copies))
        process = subprocess.Popen([folder.program, "prepare", "text.txt", *map(str, window), "--out", f"out{copies}"],
                                   cwd=folder.path, stdout=subprocess.DEVNULL, env=environment)
        peak = 0
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            if "bellwether" in status.split("\n")[0] and "VmHWM" in status:
                peak = int(status.split("VmHWM:")[1].split()[0])
            time.sleep(0.005)
        assert process.returncode == 0 and peak > 0
        peaks.append(peak)
    print(f"peak KiB: {peaks[0]} for 19 MB of text, {peaks[1]} for 113 MB")
    assert peaks[1] < peaks[0] + 16 * 1024, peaks  # a sixth of what the corpus grew by


def main(case, program):
    with tempfile.TemporaryDirectory() as path:
        {"rows": rows, "repeats": repeats, "refuses": refuses, "memory": memory,
         "holds_out_nothing": holds_out_nothing}[case](Folder(program, path))


if __name__ == "__main__":
    main(sys.argv[1], os.path.abspath(sys.argv[2]))
