#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares `bellwether tokenize` with Hugging Face `tokenizers`, id by id and in speed.

    pip install tokenizers
    python3 compare_tokenizers.py --program build/bellwether --vocab vocab.txt [--hostile] [--rounds 3] [TEXT[.gz] ...]

Exits with 1 after the first text that differs. Times whole calls, alternating between the two: the program reads a
file on standard input and writes a file of ids, including its start; the library runs its fastest call
(encode_batch_fast) on lines in memory.
"""
import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time

import tokenizers

import hostile_lines

BATCH = 100000


def read_lines(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        text = file.read().decode("utf-8", errors="replace")
    lines = text.split("\n")
    return lines[:-1] if lines and lines[-1] == "" else lines


def run_program(arguments, source, target):
    began = time.perf_counter()
    with open(source, "rb") as text, open(target, "wb") as ids:
        subprocess.run([arguments.program, "tokenize", "--vocab", arguments.vocab], stdin=text, stdout=ids, check=True)
    return time.perf_counter() - began


def run_library(library, lines):
    began = time.perf_counter()
    for begin in range(0, len(lines), BATCH):
        library.encode_batch_fast(lines[begin : begin + BATCH], add_special_tokens=False)
    return time.perf_counter() - began


def compare(name, lines, library, arguments, folder, rounds):
    source, target = os.path.join(folder, "text"), os.path.join(folder, "ids")
    with open(source, "wb") as file:
        for line in lines:
            file.write(line.encode("utf-8") + b"\n")
    run_program(arguments, source, target)
    different = tokens = 0
    with open(target, encoding="ascii") as file:
        for begin in range(0, len(lines), BATCH):
            batch = lines[begin : begin + BATCH]
            for line, encoding in zip(batch, library.encode_batch_fast(batch, add_special_tokens=False)):
                tokens += len(encoding.ids)
                ours = file.readline()
                if ours != " ".join(map(str, encoding.ids)) + "\n":
                    different += 1
                    if different <= arguments.show:
                        print("  text  ", ascii(line)[:300])
                        print("  theirs", encoding.ids[:60])
                        print("  ours  ", ours[:300].split())
        if file.read() != "":
            print("  the program wrote too many lines")
            different += 1
    words = sum(len(line.split()) for line in lines)
    print(f"{name}: {len(lines)} lines, {words} words, {tokens} tokens, {different} lines differ", flush=True)
    if rounds:
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(run_program(arguments, source, target))
            theirs.append(run_library(library, lines))
        a, b = statistics.median(ours), statistics.median(theirs)
        print(
            f"{name}: program {a:.2f} s = {tokens / a / 1e6:.2f} M tokens/s, library {b:.2f} s = "
            f"{tokens / b / 1e6:.2f} M tokens/s, {b / a:.1f} times faster (medians of {rounds})",
            flush=True,
        )
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vocab", required=True)
    parser.add_argument("--hostile", action="store_true", help="also the lines of hostile_lines.py")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds per text; 0: none")
    parser.add_argument("--show", type=int, default=10, help="differences to print per text")
    parser.add_argument("texts", nargs="*")
    arguments = parser.parse_args()

    library = tokenizers.BertWordPieceTokenizer(arguments.vocab, lowercase=True)._tokenizer
    print(f"tokenizers {tokenizers.__version__}, {os.cpu_count()} cores, {len(arguments.texts)} texts", flush=True)
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.texts:
            lines = read_lines(path)
            different += compare(os.path.basename(path), lines, library, arguments, folder, arguments.rounds)
        if arguments.hostile:
            different += compare("hostile", list(hostile_lines.all_lines()), library, arguments, folder, 0)
    print(f"{different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
