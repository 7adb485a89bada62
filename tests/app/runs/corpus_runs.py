# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests which texts `bellwether prepare` rejects, and what it warns about, counts and holds out.

    corpus_runs.py CASE PROGRAM      CASE: no_texts | poor_texts | frequencies | splits

Exits with 4 (skipped for ctest) if h5py or NumPy is missing."""

import bz2
import gzip
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import zipfile

from prepare_runs import LETTERS, TENSORS, Folder, document_of, documents, h5py, np, paragraphs, word


def no_texts(folder):
    """Files that are not text are rejected by name before any work starts; the content of standard input is checked,
    too."""
    text = paragraphs(documents(150))
    folder.write("text.txt", text)
    one, two = gzip.compress(text.encode()), gzip.compress(b"aa ab.\n\nab aa.\n")
    with tarfile.open(folder.path / "docs.tar.gz", "w:gz") as archive:
        archive.add(folder.path / "text.txt", "text.txt")
    with zipfile.ZipFile(folder.path / "docs.zip", "w") as archive:
        archive.writestr("text.txt", text)
    for name, content, words in [
            ("text.bz2", bz2.compress(text.encode()), "is a bzip2 file; allowed: UTF-8 text"),
            ("text.xz", lzma.compress(text.encode()), "xz -dc text.xz | bellwether prepare -"),
            ("text.lzma", lzma.compress(text.encode(), format=lzma.FORMAT_ALONE), "is an lzma file"),
            ("twice.gz", gzip.compress(one), "gzip -dc twice.gz | gzip -dc | bellwether prepare -"),
            ("docs.tar.gz", None, "holds, gzip-compressed, a tar archive"), ("docs.zip", None, "is a zip archive"),
            ("le.txt", text.encode("utf-16-le"), "is UTF-16LE text without a byte order mark"),
            ("be.txt", text.encode("utf-32-be"), "is UTF-32BE text without a byte order mark"),
            ("random.txt", random.Random(1).randbytes(50000), "is binary: "),
            ("followed.gz", one + b"_" + two, f"followed.gz: byte {len(one)} (0x5F) follows a complete gzip member"),
            ("cut.gz", one + two[:-5], f"ends inside the gzip member that begins at byte {len(one)} "),
            ("empty.gz", b"", "empty.gz: is empty (0 bytes), so it is not a gzip file")]:
        if content is not None:
            (folder.path / name).write_bytes(content)
        errors = folder.run(name, "--vocab", "vocab.txt", "--out", "no", expected=2)
        assert words in errors and errors.count("error: ") == 1, (name, errors)
        assert not list(folder.path.glob("no*")), name
    # Damage later in a file is reported with the number of lines before it.
    errors = folder.run("cut.gz", "--vocab", "vocab.txt", "--out", "no", expected=2)
    lines = text.count("\n") + len(gzip.decompress(two).splitlines())
    assert f"; {lines} lines before it can be read" in errors, (lines, errors)
    errors = folder.run("text.txt", "./text.txt", "--vocab", "vocab.txt", "--out", "no", expected=2)
    assert "./text.txt: is given twice, also as text.txt" in errors, errors

    def piped(content, out, expected=0):
        done = subprocess.run([folder.program, "prepare", "-", "--vocab", "vocab.txt", "--out", out], cwd=folder.path,
                              input=content, capture_output=True, timeout=600, check=False)
        assert done.returncode == expected, (done.returncode, done.stderr)
        return done.stderr.decode()

    folder.run("text.txt", "--vocab", "vocab.txt", "--out", "file")
    for number, content in enumerate((text.encode(), one, one + bytes(512))):
        piped(content, f"pipe{number}")
        assert all(np.array_equal(a, b) for a, b in zip(folder.rows("file").values(),
                                                        folder.rows(f"pipe{number}").values()))
    assert "standard input: is an xz file" in piped(lzma.compress(text.encode()), "no", 2)
    errors = folder.run("-", "--train-vocab", 100, "--out", "no", expected=2)
    assert "standard input: --train-vocab reads the text twice" in errors, errors
    # A vocabulary is a text, too; its byte order mark is not part of the first token.
    vocabulary = (folder.path / "vocab.txt").read_bytes()
    (folder.path / "marked.txt").write_bytes(b"\xef\xbb\xbf" + vocabulary.replace(b"\n", b"\r\n"))
    folder.run("text.txt", "--vocab", "marked.txt", "--out", "marked")
    assert (folder.path / "marked" / "vocab.txt").read_bytes() == vocabulary
    (folder.path / "commented.txt").write_bytes(b"# tokens of two letters\n" + vocabulary)
    errors = folder.run("text.txt", "--vocab", "commented.txt", "--out", "no", expected=2)
    assert "error: commented.txt:1: a blank or tab stands before or inside the token" in errors, errors
    (folder.path / "wide.txt").write_bytes(vocabulary.decode().encode("utf-16"))
    errors = folder.run("text.txt", "--vocab", "wide.txt", "--out", "no", expected=2)
    assert "error: wide.txt: is UTF-16 text" in errors, errors


def poor_texts(folder):
    """Each fault of a text causes a warning with its number and cause; --strict makes it an error."""
    docs = documents(150)

    def warnings_of(text, *arguments):
        shutil.rmtree(folder.path / "strict", ignore_errors=True)
        folder.write("text.txt", text)
        out = f"out{len(list(folder.path.glob('out*')))}"
        command = [folder.program, "prepare", "text.txt", "--out", out, "--sequence-length", "32", *map(str, arguments)]
        if "--train-vocab" not in arguments and "--vocab" not in arguments:
            command += ["--vocab", "vocab.txt"]
        done = subprocess.run(command, cwd=folder.path, capture_output=True, text=True, timeout=600, check=True)
        command[command.index(out)] = "strict"
        strict = subprocess.run([*command, "--strict"], cwd=folder.path, capture_output=True, text=True, timeout=600,
                                check=False)
        assert all(line.startswith("warning: ") for line in done.stderr.splitlines()), done.stderr
        return done.stderr, out, strict

    context_free = []
    for masking in ("static", "dynamic"):
        errors, out, _ = warnings_of(paragraphs(docs), "--masking", masking)
        assert errors == "", errors
        with h5py.File(folder.path / out / "train_00000.h5") as shard:
            assert shard.attrs["corpus_documents"] == 150 and shard.attrs["corpus_unknown_tokens"] == 0
            loss, rows = float(shard.attrs["corpus_frequency_loss"]), len(shard["input_ids"])
            context_free.append(float(shard.attrs["corpus_context_free_loss"]))
    counts = np.bincount(np.array([6 + 26 * LETTERS.index(w[0]) + LETTERS.index(w[1]) if w != "." else 5
                                   for doc in docs for s in doc for w in s.replace(".", " .").split()]), minlength=682)
    expected = -(counts[counts > 0] * np.log((counts[counts > 0] + 1) / (counts.sum() + 682))).sum() / counts.sum()
    assert abs(loss - expected) < 1e-9 and rows > 100, (loss, expected)
    shown = 0.1 * np.eye(682) + 0.1 / 682  # probability of each shown token (row) for each true one (column)
    shown[4] += 0.8  # [MASK]
    joint, known = shown * counts / counts.sum(), shown * (counts + 1) / (counts.sum() + 682)
    known /= known.sum(axis=1, keepdims=True)
    expected = -(joint * np.log(known)).sum()
    assert np.allclose(context_free, expected, rtol=0, atol=1e-9) and expected < loss, (context_free, expected, loss)
    folder.write("cased.txt", (folder.path / "vocab.txt").read_text().replace("\na", "\nA").replace("\nb", "\nB"))
    folder.write("letters.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\na\n")
    # A vocabulary that is large enough for whole words, and a language whose words it does not have.
    folder.write("large.txt", (folder.path / "vocab.txt").read_text() + "\n".join(
        [f"##{word(n)}" for n in range(676)] + [f"[unused{n}]" for n in range(10000)]) + "\n")
    foreign = paragraphs([[s.replace(".", "").replace(" ", "") for s in doc] for doc in docs])
    foreign = re.sub(r"([a-z]{4})(?=[a-z])", r"\1 ", foreign)
    wrapped = "\n\n".join(textwrap.fill(" ".join(s.capitalize() for s in doc), 72) for doc in docs) + "\n"
    long_word = "acgt" * 60
    for text, arguments, words in [
            (paragraphs(docs), ["--vocab", "letters.txt"], "of the tokens are unknown to the vocabulary ([UNK]): the vocabulary is of"),
            (paragraphs(docs), ["--vocab", "cased.txt"], "the vocabulary is cased"),
            ("\n\n".join(sentence for doc in docs[:20] for sentence in doc), [], "documents have one sentence each"),
            ("\n\n".join(f"{long_word}{word(n)}." for n in range(100)), [], "is in words of more than 100 characters"),
            (paragraphs(docs), ["--train-vocab", 30000], "tokens, 30000 were requested"),
            (paragraphs(docs), ["--train-vocab", 300, "--alphabet", 12],
             "in words that become [UNK], because the vocabulary keeps the 12 most frequent of 27 characters"),
            (paragraphs(docs) + "\n" + "\n".join(s for doc in docs * 20 for s in doc), [], f"it begins at text.txt:{150 * 21 + 1}"),
            (paragraphs([["aa ab ac ad ae af ag ah ai aj."] + doc[:8] for doc in docs]), [],
             "in lines that occur more than 10 times, such as text.txt:1: headers"),
            (paragraphs(docs + docs[:30]), [], "17 % of the documents repeat another one exactly"),
            (paragraphs(docs[:60]) + "\n" + "\n".join(s for doc in docs * 20 for s in doc), ["--heldout", 0.1],
             "of the tokens are held out, but --heldout requested 10.0 % of the documents"),
            ("\n\n".join("\n".join(f"{n}; {n * d} - {n + d}." for n in range(20)) for d in range(50)),
             ["--train-vocab", 100], "of the tokens are numbers, punctuation or symbols"),
            (paragraphs(docs).replace("a", "\u0915\u0941"), ["--train-vocab", 300], "are vowel signs or other marks"),
            (paragraphs(docs).replace("a", "a\ue000"), [], "are unreadable (private use, or U+FFFD)"),
            (paragraphs(docs).replace("a", "a\u200b"), [], "zero-width spaces or non-joiners"),
            (foreign, ["--vocab", "large.txt"], "tokens each; 1.1 to 1.4 are usual. The vocabulary is of another language than the text"),
            (wrapped, [], "of the lines begin in the middle of a sentence, such as text.txt:3: the text is wrapped at a fixed width; add --wrapped"),
            ('{"text": "aa ab"}\n\n' + paragraphs(docs), [], "text.txt looks like JSON"),
            (paragraphs(docs).replace(".", " <b>ab</b>."), [], "text.txt looks like HTML or XML"),
            (paragraphs([[f"{word(d)}\t{word(s)}\t{word(d + s)}." for s in range(20)] for d in range(60)]), [],
             "text.txt looks like a table"),
            (paragraphs(docs).replace(".", " <unk> ab."), [], "text.txt holds <unk> for more than 1 in 300 words"),
            (paragraphs(docs).replace(".", " &amp; ab."), [], "text.txt holds entities of HTML")]:
        errors, _, strict = warnings_of(text, *arguments)
        assert words in errors, (words, errors)
        assert strict.returncode == 2 and words in strict.stderr and "warning: " not in strict.stderr, strict.stderr
        assert not list(folder.path.glob("*.partial")) and not list(folder.path.glob("strict*"))
    errors, _, _ = warnings_of(wrapped, "--wrapped")
    assert errors == "", errors
    # Without capital letters the lengths of the lines show it. Mail quotes lines.
    lengths = random.Random(4)
    small = textwrap.fill(" ".join(lengths.choice(LETTERS) * lengths.randrange(1, 10) for _ in range(3000)), 72) + "\n"
    for poor, words in ((small, "the text is wrapped at a fixed width; add --wrapped"),
                        (re.sub(r"^(?=.)", "> ", wrapped, flags=re.M), "the text is quoted mail, wrapped at a fixed width; remove the marks")):
        errors, _, _ = warnings_of(poor)
        assert words in errors, errors
    # An empty file among others is named, also if only a vocabulary is made.
    folder.write("text.txt", paragraphs(docs))
    folder.write("empty.txt", "")
    for output in (["--vocab", "vocab.txt", "--out", "beside"], ["--train-vocab", "300", "--vocab", "made.txt"]):
        done = subprocess.run([folder.program, "prepare", "text.txt", "empty.txt", *output], cwd=folder.path, check=True,
                              capture_output=True, text=True, timeout=600)
        assert "warning: empty.txt holds no text, only white space or nothing at all" in done.stderr, done.stderr
    # Markup is found in later parts of a text. Several texts with the same fault give one warning.
    prose = "".join(paragraphs(docs) + "\n" for _ in range(1 + 70000 // len(paragraphs(docs))))
    folder.write("text.txt", prose + '{"text": "aa ab"}\n' * 5000)
    for number in (1, 2):
        folder.write(f"page{number}.txt", f"<p>aa ab.</p>\n<p>ab aa {'ab ' * number}.</p>\n" * 50)
    done = subprocess.run([folder.program, "prepare", "text.txt", "page1.txt", "page2.txt", "--vocab", "vocab.txt",
                           "--out", "joined"], cwd=folder.path, check=True, capture_output=True, text=True, timeout=600)
    errors = done.stderr
    assert re.search(r"warning: text.txt \(from line \d+ on\) looks like JSON", errors), errors
    assert "warning: page1.txt (and 1 other text) looks like HTML or XML" in errors, errors
    assert errors.count("looks like") == 2, errors
    # `check` repeats what the shards record, and warns about a model with far more tokens than they have.
    folder.write("text.txt", "\n\n".join(sentence for doc in docs[:20] for sentence in doc))
    folder.run("text.txt", "--vocab", "vocab.txt", "--out", "poor", "--sequence-length", 32)
    folder.write("deck.yaml", "data: {train: [poor]}\nmodel: {vocabulary: 30522, hidden: 16, layers: 1, heads: 2, feed_forward: 32}\n")

    def check(*arguments):
        return subprocess.run([folder.program, "check", "deck.yaml", *arguments], cwd=folder.path, capture_output=True,
                              text=True, timeout=120, check=False)

    expected = ["data.train: 100 % of the rows have a random next sentence",
                "model.vocabulary: 30522, but data.train was made with a vocabulary of 682: 29840 tokens"]
    done, strict = check(), check("--strict")
    assert done.returncode == 0 and all("warning: " + words in done.stderr for words in expected), done.stderr
    assert strict.returncode == 2 and all("error: " + words in strict.stderr for words in expected), strict.stderr
    done = check("--set", "model.vocabulary=688")
    assert expected[0] in done.stderr and "model.vocabulary" not in done.stderr, done.stderr
    # Chinese sentences end with their own full stop, without a space.
    chinese = "\n\n".join("".join("".join(chr(0x4E00 + d * 7 % 500 + i) for i in range(6)) + "\u3002" for _ in range(20))
                          for d in range(60))
    folder.write("chinese_vocab.txt", "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "\u3002"] +
                                                [chr(0x4E00 + i) for i in range(520)]))
    errors, _, _ = warnings_of(chinese, "--vocab", "chinese_vocab.txt")
    assert errors == "", errors
    done = subprocess.run([folder.program, "tokenize", "--vocab", "cased.txt"], cwd=folder.path, input=b"Aa ab\nba \xff\n",
                          capture_output=True, timeout=60, check=True)
    assert b"the vocabulary is cased" in done.stderr and b"1 line holds bytes" in done.stderr, done.stderr
    for command in (["prepare", "-", "--out", "piped"], ["tokenize"]):
        done = subprocess.run([folder.program, *command, "--vocab", "vocab.txt"], cwd=folder.path, timeout=60, check=True,
                              input=b'{"text": "aa ab"}\n' * 50, capture_output=True)
        assert b"warning: standard input looks like JSON" in done.stderr, done.stderr


def frequencies(folder):
    """A run compares its held-out loss with that of a model without context, or with that of word frequencies if the
    shards are of an earlier version: in its log, its statistics and its report."""
    folder.write("text.txt", paragraphs(documents(150)))
    folder.run("text.txt", "--vocab", "vocab.txt", "--out", "shards", "--sequence-length", 32, "--heldout", 0.2)
    folder.write("deck.yaml", """
run: {directory: run}
data: {train: [shards], heldout: [shards/heldout]}
batch: {global: 8, micro: 8}
model: {vocabulary: 688, hidden: 16, layers: 1, heads: 2, feed_forward: 32, positions: 32}
schedule: {steps: 3, warmup_steps: 1}
statistics: {evaluate_every: 2, evaluate_sequences: 16}
""")
    environment = dict(os.environ, OMP_NUM_THREADS="1", BELLWETHER_PYTHON=sys.executable)

    def call(*arguments):
        return subprocess.run([folder.program, *arguments], cwd=folder.path, capture_output=True, text=True, timeout=300,
                              check=True, env=environment).stdout

    def compared(run, key, what):
        """Trains, and returns the loss that the log shows beside the held-out one."""
        with h5py.File(heldout) as shard:
            loss = float(shard.attrs["corpus_" + key])
        log = [line for line in call("train", "deck.yaml", "--set", f"run.directory={run}").splitlines()
               if line.startswith("held out at step ")]
        with h5py.File(folder.path / run / "statistics.h5") as file:
            assert float(file["evaluation"].attrs[key]) == loss
            assert ("context_free_loss" in file["evaluation"].attrs) == (key == "context_free_loss")
            assert float(file["evaluation"].attrs["frequency_loss"]) >= loss
            below = file["evaluation"]["mlm_loss"] < loss
        assert len(log) == len(below) == 2, log
        for line, is_below in zip(log, below):
            assert line.endswith(f"  {'' if is_below else 'not yet '}below {what} ({loss:.3f})"), line
        return loss

    heldout, = (folder.path / "shards" / "heldout").glob("*.h5")
    context_free = compared("run", "context_free_loss", "the context-free loss")
    with h5py.File(heldout, "r+") as shard:
        del shard.attrs["corpus_context_free_loss"]
    frequency = compared("older", "frequency_loss", "word frequencies")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    for run, is_older in (("run", False), ("older", True)):
        call("report", run)
        page = (folder.path / run / "report.html").read_text()
        for name, loss, is_shown in (("word frequencies", frequency, True), ("context-free loss", context_free, not is_older)):
            found = f"<th>{name}</th><td>masked-LM loss {loss:.3f}; the held-out loss is " in page
            assert found == is_shown, (run, name)


def splits(folder):
    """Documents that begin alike are held out at the requested rate, regardless of the order of the files."""
    docs = [["aa ab."] + doc for doc in documents(200)]
    for name, part in (("a.txt", docs[:120]), ("b.txt", docs[120:])):
        folder.write(name, paragraphs(part))
    # Copies that give the same tokens: they differ in byte order mark, blanks, invisible characters and capital
    # letters.
    folder.write("copies.txt", "\ufeff" + paragraphs(docs[:50]).replace(".\n", ". \u200b \n").replace(" ", "  ").upper())
    held = {}
    for out, texts, seed in (("ab", ["a.txt", "b.txt"], 1), ("ba", ["b.txt", "a.txt"], 1), ("copies", ["a.txt", "b.txt", "copies.txt"], 1),
                             ("other", ["a.txt", "b.txt"], 2)):
        folder.run(*texts, "--vocab", "vocab.txt", "--out", out, "--heldout", 0.2, "--seed", seed)
        train, heldout = ({d for row in folder.rows(f"{out}{sub}")["input_ids"] for d in document_of(row) if d > 0}
                          for sub in ("", "/heldout"))
        assert not train & heldout, out
        assert 20 < len(heldout) < 63, len(heldout)  # 40 +- 4 standard deviations
        held[out] = heldout
    assert held["ab"] == held["ba"] == held["copies"] != held["other"]
    doubtful_sets(folder)


def doubtful_sets(folder):
    """`check` reports held-out text that is also trained on in other rows, and shards that are missing in a set."""
    folder.write("deck.yaml", "data: {train: [ab], heldout: [ab/heldout]}\n"
                              "model: {vocabulary: 682, hidden: 16, layers: 1, heads: 2, feed_forward: 32}\n"
                              "statistics: {evaluate_sequences: 16}\n")

    def warnings(*settings):
        words = [word for setting in settings for word in ("--set", setting)]
        return subprocess.run([folder.program, "check", "deck.yaml", *words], cwd=folder.path, capture_output=True,
                              text=True, timeout=120, check=True).stderr

    def share():
        told = re.search(r"heldout.*: (\d+) of the (\d+) held-out rows that were compared are trained on, too: ",
                         warnings("data.heldout=[no]"))
        assert told, "not told"
        return int(told[1]) / int(told[2])

    assert warnings() == "", warnings()
    shutil.copytree(folder.path / "other/heldout", folder.path / "no")
    assert 0.6 < share() < 1
    # Rows of a shard, without its other contents.
    shutil.rmtree(folder.path / "no")
    (folder.path / "no").mkdir()
    with h5py.File(folder.path / "ab/train_00000.h5") as shard, h5py.File(folder.path / "no/part.h5", "w") as part:
        for name in TENSORS:
            part[name] = shard[name][20:60]
    assert share() == 1
    folder.run("a.txt", "--vocab", "vocab.txt", "--out", "parts", "--heldout", 0.2, "--rows-per-shard", 50)
    parts = ("data.train=[parts]", "data.heldout=[parts/heldout]")
    assert warnings(*parts) == "", warnings(*parts)
    rows = len(folder.rows("parts")["input_ids"])
    sorted((folder.path / "parts").glob("*.h5"))[-1].unlink()
    left = len(folder.rows("parts")["input_ids"])
    assert f"train_00000.h5: {left} of the {rows} rows of this set are here; shards are missing" in warnings(*parts), warnings(*parts)


def main(case, program):
    with tempfile.TemporaryDirectory() as path:
        {"no_texts": no_texts, "poor_texts": poor_texts, "frequencies": frequencies, "splits": splits}[case](Folder(program, path))


if __name__ == "__main__":
    main(sys.argv[1], os.path.abspath(sys.argv[2]))
