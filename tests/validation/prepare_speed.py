#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares `bellwether tokenize` and `bellwether prepare` with Hugging Face `tokenizers`: words per second, ids, memory.

    pip install tokenizers
    python3 prepare_speed.py --program build/bellwether --vocab vocab.txt [--threads 2] [--rounds 3] [--lines 100000]
                             [--copies 10] [--least 1.5] [--json OUT.jsonl] TEXT[.gz] ...

Runs the three in turn with the same number of threads, on all texts together. `tokenize` reads lines from a file and
writes a file of ids, including its start. The library converts lists of lines in memory with its fastest call,
encode_batch_fast. `prepare` does more than either: it reads the compressed texts, finds sentences, draws pairs,
shuffles rows and writes compressed shards. Words are separated by white space.

Compares the ids of at least --lines lines, evenly spread, and for all lines the number of tokens that `prepare` counts.
Memory is the peak of `prepare`, once for the texts and once for --copies of them in sequence. It grows during the first
millions of words before it is constant, so that the check reports growth for shorter texts.

--json appends a line with everything that is printed, and the seconds of each turn.

Exits with 1 if an id differs, a rate is below --least times the library's, or memory grows by a quarter.
"""
import argparse
import gzip
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from launch import keep, results_file

BATCH = 100000  # lines per call of the library
SPECIALS = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")


def read_lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        lines = file.read().decode("utf-8", errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


class Program:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)

    def options(self):
        return ["--vocab", self.arguments.vocab, "--threads", str(self.arguments.threads)]

    def tokenize(self, source, target):
        began = time.perf_counter()
        with open(source, "rb") as text, open(target, "wb") as ids:
            subprocess.run([self.arguments.program, "tokenize", *self.options()], stdin=text, stdout=ids, check=True)
        return time.perf_counter() - began

    def prepare(self, texts):
        """Returns seconds, tokens of the texts, and the peak memory in KiB that the system reports."""
        out = self.folder / "shards"
        command = [self.arguments.program, "prepare", *texts, *self.options(), "--heldout", "0.01", "--out", str(out)]
        began = time.perf_counter()
        with open(self.folder / "told", "w+", encoding="utf-8") as told:
            process = subprocess.Popen(command, stdout=told)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - began
            told.seek(0)
            text = told.read()
        assert process.returncode == 0, f"{command}: exit {process.returncode}"
        shutil.rmtree(out)
        return seconds, int(re.search(r"text +(\d+) tokens", text).group(1)), used.ru_maxrss


class Library:
    def __init__(self, vocabulary, threads):
        # The library reads this when it is first used.
        os.environ.update(TOKENIZERS_PARALLELISM="true", RAYON_NUM_THREADS=str(threads))
        import tokenizers

        self.name = f"tokenizers {tokenizers.__version__}"
        self.tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=True)._tokenizer

    def batches(self, lines):
        for begin in range(0, len(lines), BATCH):
            yield self.tokenizer.encode_batch_fast(lines[begin : begin + BATCH], add_special_tokens=False)

    def seconds(self, lines):
        began = time.perf_counter()
        for _ in self.batches(lines):
            pass
        return time.perf_counter() - began


def differences(lines, ids, library, wanted):
    """Returns lines that differ, lines compared, and tokens of all lines. `ids`: lines that the program wrote."""
    step = max(1, len(lines) // wanted)
    different = compared = tokens = at = 0
    for batch in library.batches(lines):
        for encoding in batch:
            ours = ids.readline()
            tokens += len(encoding.ids)
            if at % step == 0:
                compared += 1
                different += ours != " ".join(map(str, encoding.ids)) + "\n"
            at += 1
    return different + (ids.read() != ""), compared, tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vocab", required=True)
    parser.add_argument("--threads", type=int, default=2, help="threads of the program and of the library")
    parser.add_argument("--rounds", type=int, default=3, help="number of timed turns")
    parser.add_argument("--lines", type=int, default=100000, help="minimum number of lines whose ids are compared")
    parser.add_argument("--copies", type=int, default=10, help="copies of the texts, for the memory test")
    parser.add_argument("--least", type=float, default=1.5, help="minimum rate, as a multiple of the library's words per second")
    parser.add_argument("--json", type=results_file, help="file to which a line of results is appended")
    parser.add_argument("texts", nargs="+")
    arguments = parser.parse_args()

    faults = []
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments, folder)
        # Run this first: a child's peak memory includes that of this process when it starts the child.
        _, counted, once = program.prepare(arguments.texts)
        _, _, often = program.prepare(arguments.texts * arguments.copies)
        print(f"prepare holds {once / 1024:.0f} MiB at most, {often / 1024:.0f} MiB for {arguments.copies} times the text: "
              f"{often / once:.2f} times as much", flush=True)
        record = {"threads": arguments.threads, "prepare_kib": once, "copies": arguments.copies, "prepare_kib_of_copies": often,
                  "prepare_memory_ratio": often / once}
        if often > 1.25 * once:
            faults.append("memory grows with the text")

        library = Library(arguments.vocab, arguments.threads)
        lines = [line for path in arguments.texts for line in read_lines(path)]
        words = sum(len(line.split()) for line in lines)
        source, target = os.path.join(folder, "lines"), os.path.join(folder, "ids")
        with open(source, "wb") as file:
            file.writelines(line.encode("utf-8") + b"\n" for line in lines)
        program.tokenize(source, target)
        with open(target, encoding="ascii") as ids:
            different, compared, tokens = differences(lines, ids, library, arguments.lines)
        print(f"{len(lines)} lines, {words} words, {tokens} tokens by {library.name}, {counted} by prepare; "
              f"{different} of {compared} lines have other ids", flush=True)
        record |= {"library": library.name, "lines": len(lines), "words": words, "tokens": tokens, "tokens_by_prepare": counted,
                   "lines_compared": compared, "lines_different": different, "rates": {}}
        # Only prepare treats [MASK] and the like, written in a text, as characters.
        comparable = not any(map(SPECIALS.search, lines))
        if different or (comparable and counted != tokens):
            faults.append("ids differ")

        taken = {"tokenize": [], "prepare": [], library.name: []}
        for _ in range(arguments.rounds):
            taken["tokenize"].append(program.tokenize(source, target))
            taken["prepare"].append(program.prepare(arguments.texts)[0])
            taken[library.name].append(library.seconds(lines))
        theirs = statistics.median(taken[library.name])
        for name, seconds in taken.items():
            ours = statistics.median(seconds)
            print(f"{name:18} {words / ours / 1e6:7.2f} M words/s, {tokens / ours / 1e6:7.2f} M tokens/s, {ours:7.2f} s "
                  f"({min(seconds):.2f} to {max(seconds):.2f}), {theirs / ours:6.2f} times the library", flush=True)
            record["rates"][name] = {"words_per_second": words / ours, "tokens_per_second": tokens / ours, "seconds": seconds,
                                     "median": ours, "over_library": theirs / ours}
            if name != library.name and theirs < arguments.least * ours:
                faults.append(f"{name} is below {arguments.least} times the library")
    keep(arguments.json, record | {"faults": faults})
    print("; ".join(faults) or "all holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
