# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the results of `bellwether prepare` from the outside.

    prepare_runs.py CASE PROGRAM      CASE: rows | repeats | refuses | odd_texts | command_line | memory |
                                            holds_out_nothing

Exits with 4 (skipped for ctest) if h5py or NumPy is missing."""

import gzip
import os
import pathlib
import random
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
    """Returns documents of sentences of two-letter words. Every word occurs in one document only, 3 of 676 in each
    document."""
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
    """BERT's procedure: pairs, segments, masks. Held-out documents are not trained on."""
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
    def files(out):
        return {path.name: path.read_bytes() for path in (folder.path / out).iterdir()}

    a, b, c, d, e, f = (files(out) for out in "abcdef")
    assert sum(name.endswith(".h5") for name in a) > 3
    assert a == b == c and a != d
    # Line breaks change the recorded corpus, but not the rows.
    assert all(np.array_equal(one, other) for one, other in zip(folder.rows("e").values(), folder.rows("f").values()))
    assert len(e) == len(f)


def refuses(folder):
    """One clear error, exit code 2, and no files left behind."""
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
            (["text.txt", *good, "--mask", "static"], "--mask"),
            (["text.txt", *good, "--alphabet", "50"], "--alphabet 50: applies only to a vocabulary that is trained"),
            (["text.txt", *good, "--alphabet", "0"], "--alphabet: '0'; allowed: a whole number from 1 to 1114111"),
            (["text.txt", "--train-vocab", "100", "--alphabet", "96", "--out", "shards"], "100 at most 95 characters"),
            (["text.txt", "--vocab", "vocab.txt", "--out", "-"], "--out -: a folder cannot go to standard output; name a new"),
            (["text.txt", "--train-vocab", "100", "--vocab", "-"], "--vocab -: the vocabulary appears only when")]:
        errors = folder.run(*arguments, expected=2)
        assert words in errors and len(errors) < 700, (arguments, errors)
        assert not list(folder.path.glob("shards*")) and not list(folder.path.glob("-*")), arguments
    (folder.path / "new").mkdir()
    (folder.path / "link").symlink_to("new")
    for vocabulary, out, words in (("same", "same", "are the same path"), ("./same", "same/", "are the same path"),
                                   ("link", "new", "are the same path"),
                                   ("new/vocab", "new", "the file lies in the folder"),
                                   ("link/vocab", "new", "the file lies in the folder"),
                                   ("new.partial/vocab", "new", "the file lies in the folder"),
                                   ("same", "same/shards", "the folder lies below the file's name")):
        errors = folder.run("text.txt", "--train-vocab", "100", "--vocab", vocabulary, "--out", out, expected=2)
        assert errors.startswith(f"error: --vocab {vocabulary}, --out {out}: {words}"), errors
        assert not list(folder.path.glob("same*")) and not list(folder.path.glob("new*/*")), (vocabulary, out)
    folder.run("text.txt", *good)
    before = {path: path.read_bytes() for path in (folder.path / "shards").iterdir()}
    assert "shards" in folder.run("text.txt", *good, expected=2)  # never overwrites existing files
    assert before == {path: path.read_bytes() for path in (folder.path / "shards").iterdir()}


def odd_texts(folder):
    """Texts that are one document, not UTF-8, or a pipe."""
    docs = documents(150)
    folder.write("text.txt", paragraphs(docs))

    def errors_of(*arguments):
        done = subprocess.run([folder.program, "prepare", *arguments, "--vocab", "vocab.txt"], cwd=folder.path,
                              capture_output=True, text=True, timeout=600, check=True)
        return done.stderr

    assert errors_of("text.txt", "--out", "many") == ""
    folder.write("one.txt", "\n".join("\n".join(doc) for doc in docs) + "\n")
    assert errors_of("one.txt", "--out", "one").startswith("warning: one document: ")
    (folder.path / "bytes.txt").write_bytes(b"aa ab. aa.\n\nab \xff\xff aa.\n")
    errors = errors_of("bytes.txt", "--out", "bytes")
    assert "warning: 1 line holds bytes that are not UTF-8, which were left out; the first is bytes.txt:3" in errors, errors
    assert "has another encoding: convert it, for example by iconv -f ISO-8859-1" in errors, errors
    for code in ("utf-16", "utf-32"):
        (folder.path / "coded.txt").write_text(paragraphs(docs), encoding=code)
        with gzip.open(folder.path / "coded.txt.gz", "wb") as file:
            file.write((folder.path / "coded.txt").read_bytes())
        for name in ("coded.txt", "coded.txt.gz"):
            errors = folder.run(name, "--vocab", "vocab.txt", "--out", "coded", expected=2)
            assert f"error: {name}: " in errors and f"{code.upper()} text; allowed: UTF-8 text" in errors, errors
            assert f"iconv -f {code.upper()} -t UTF-8" in errors, errors
    pipe = ["cat", "text.txt"]
    with subprocess.Popen(pipe, cwd=folder.path, stdout=subprocess.PIPE) as source:
        number = source.stdout.fileno()
        subprocess.run([folder.program, "prepare", f"/dev/fd/{number}", "--vocab", "vocab.txt", "--out", "piped"],
                       cwd=folder.path, pass_fds=[number], stdout=subprocess.DEVNULL, timeout=600, check=True)
    assert all(np.array_equal(one, other) for one, other in zip(folder.rows("many").values(),
                                                                folder.rows("piped").values()))
    with subprocess.Popen(pipe, cwd=folder.path, stdout=subprocess.PIPE) as source:
        number = source.stdout.fileno()
        done = subprocess.run([folder.program, "prepare", f"/dev/fd/{number}", "--train-vocab", "100", "--out", "twice"],
                              cwd=folder.path, pass_fds=[number], capture_output=True, text=True, timeout=600,
                              check=False)
    assert done.returncode == 2 and "--train-vocab reads the text twice" in done.stderr, done.stderr


def command_line(folder):
    """Faults of the command line: one line that begins with `error: `, exit code 2, regardless of a launcher's
    variables in the environment."""
    folder.write("text.txt", paragraphs(documents(20)))
    prepare = ["prepare", "text.txt", "--vocab", "vocab.txt", "--out", "shards"]

    def call(arguments, **environment):
        done = subprocess.run([folder.program, *arguments], cwd=folder.path, capture_output=True, text=True,
                              timeout=60, check=False, env=dict(os.environ, **environment))
        return done.returncode, done.stdout, done.stderr

    for arguments, words in [
            (prepare + ["--seed", "-1"], "--seed: '-1'; allowed: a whole number from 0 to "),
            (prepare + ["--seed", "0x10"], "--seed: '0x10'; allowed: a whole number"),
            (prepare + ["--threads", "many"], "--threads: 'many'; allowed: a whole number from 1 to 1024"),
            (prepare + ["--heldout", "1.5"], "--heldout: '1.5'; allowed: a number from 0 to 0.9"),
            (prepare + ["--masking", "statik"], "'statik' (did you mean 'static'?); one of dynamic, static"),
            (prepare + ["--sed", "3"], "unknown option '--sed' (did you mean '--seed'?)"),
            (["prepare", "--otu", "shards"], "unknown option '--otu' (did you mean '--out'?)"),
            (["prepare", "--vocab", "vocab.txt", "--out", "x"], "prepare: text is missing"),
            (prepare + ["--seed"], "--seed: a value is missing"),
            (["prepare", "none", "--out", "--wrapped"], "--out: a value is missing before '--wrapped'"),
            (["prepare", "none", "--out", "--vocab", "x"], "--out: a value is missing before '--vocab'"),
            (["prepare", "", "--out", "x", "--vocab", "x"], "text: the value is empty; is a variable of the shell unset?"),
            (["inspect", ""], "the value is empty"), (["report", ""], "the value is empty"),
            (["inspect", "x", "--rows", "-1"], "--rows: '-1'; allowed: a whole number from 0 to 9223372036854775807"),
            (["train"], "train: deck is missing"), (["train", "a", "b"], "unexpected argument 'b'"),
            (["--log", "json", "train", "a"], "'--log' must follow the command"),
            (["trian"], "unknown command 'trian' (did you mean 'train'?)"), ([], "no command given; one of train"),
            (["--vresion"], "unknown option '--vresion' (did you mean '--version'?); `bellwether --help`"),
            (["check", "--schema", "nope.yaml"], "--schema"), (["check", "--schema", "--set", "a.b=c"], "--set"),
            (["check", "deck.yaml", "--schema", "--set", "a.b=c"], "--schema"),
            (["check", "--schema", "--cluster", "c.yaml"], "--cluster"),
            (["check", "--markdown", "deck.yaml"], "--markdown"), (["check"], "no deck given")]:
        code, output, errors = call(arguments)
        assert code == 2 and output == "" and words in errors, (arguments, code, errors)
        assert errors.startswith("error: ") and errors.count("\n") == 1, (arguments, errors)
    for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "FLUX_TASK_RANK", "ALPS_APP_PE", "SLURM_PROCID"):
        # Another rank could print it first, but nothing proves that there is one.
        for rank in ("0", "1"):
            code, output, errors = call(["train"], **{variable: rank})
            assert (code, output) == (2, "") and errors.startswith("error: train: deck is missing"), (variable, errors)
        for arguments, words in ((["inspect", "none.h5"], "none.h5: no such file"), (["report", "none"], "none"),
                                 (["tokenize", "--vocba", "x"], "'--vocba'"), (["prepare", "none", "--out", "x"], "prepare: ")):
            code, output, errors = call(arguments, **{variable: "3"})
            assert code != 0 and errors.startswith("error: ") and words in errors, (variable, arguments, errors)
        for arguments in (["--help"], ["train", "--help"], ["--version"], ["check", "--schema"]):
            code, output, errors = call(arguments, **{variable: "3"})
            assert code == 0 and output, (variable, arguments, errors)
    assert call(["check", "--schema", "--markdown"])[0] == 0
    code, output, _ = call(["inspect", "--help"])
    assert code == 0 and max(map(len, output.split("\n"))) < 160, output


def holds_out_nothing(folder):
    """A share too small for the text is reported, and leaves no empty folder that a deck could name."""
    folder.write("text.txt", paragraphs(documents(2)))
    command = [folder.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", "shards", "--heldout", "0.001"]
    done = subprocess.run(command, cwd=folder.path, capture_output=True, text=True, timeout=600, check=True)
    assert "warning: nothing is held out" in done.stderr and "held out  0 rows" in done.stdout, (done.stdout, done.stderr)
    assert sorted(path.name for path in (folder.path / "shards").iterdir()) == ["train_00000.h5", "vocab.txt"]


def memory(folder):
    """A corpus six times as large takes no more memory."""
    window = ["--vocab", "vocab.txt", "--window", 200000, "--rows-per-shard", 2000]
    # The address sanitizer keeps released memory, to find late uses.
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
    assert peaks[1] < peaks[0] + 16 * 1024, peaks  # a sixth of the growth of the corpus


def main(case, program):
    with tempfile.TemporaryDirectory() as path:
        {"rows": rows, "repeats": repeats, "refuses": refuses, "odd_texts": odd_texts, "command_line": command_line,
         "memory": memory, "holds_out_nothing": holds_out_nothing}[case](Folder(program, path))


if __name__ == "__main__":
    main(sys.argv[1], os.path.abspath(sys.argv[2]))
