# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the text that `bellwether prepare` reads: paragraphs, one a line, and a blank line after each document.

From a folder of Markdown (.md or .md.gz) every section under a heading becomes a document; a plain text file has its
documents between blank lines already. Every 20th document goes to heldout.txt, the others to train.txt.
Usage: corpus.py FOLDER|FILE OUT
"""
import gzip
import os
import re
import sys

SHORTEST = 40  # words; tables of contents and lists of links are not prose
HELD_OUT_EVERY = 20


def plain(paragraph):
    """One paragraph without Markdown's marks, on one line."""
    paragraph = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)  # links and images: their text
    paragraph = re.sub(r"\\([^\w\s])", r"\1", paragraph)
    paragraph = re.sub(r"[*`_]+(?=\S)|(?<=\S)[*`_]+", "", paragraph)
    paragraph = re.sub(r"^\s*([>*+-]|\d+\.)\s+", "", paragraph, flags=re.M)
    return " ".join(paragraph.split())


def sections(text):
    """The documents of one Markdown file, each a list of paragraphs."""
    for section in re.split(r"^#+ .*$", text, flags=re.M):
        paragraphs = [plain(each) for each in re.split(r"\n\s*\n", section)]
        paragraphs = [each for each in paragraphs if re.search(r"\w", each)]
        if sum(len(each.split()) for each in paragraphs) >= SHORTEST:
            yield paragraphs


def opened(path):
    return (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace")


def documents(source):
    if os.path.isfile(source):
        with opened(source) as file:
            document = []
            for line in file:
                if line.strip():
                    document.append(line.strip())
                elif document:
                    yield document
                    document = []
            if document:
                yield document
        return
    for path in sorted(os.path.join(where, name) for where, _, names in os.walk(source) for name in names):
        if path.endswith((".md", ".md.gz")):
            with opened(path) as file:
                yield from sections(file.read())


def main():
    source, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    found = 0
    with open(os.path.join(out, "train.txt"), "w", encoding="utf-8") as train, \
         open(os.path.join(out, "heldout.txt"), "w", encoding="utf-8") as heldout:
        for document in documents(source):
            found += 1
            target = heldout if found % HELD_OUT_EVERY == 0 else train
            target.write("\n".join(document) + "\n\n")
    if found < HELD_OUT_EVERY:
        sys.exit(f"{source} has {found} documents (text between blank lines); {HELD_OUT_EVERY} are the least")
    print(f"{found} documents, every {HELD_OUT_EVERY}th of them held out")


if __name__ == "__main__":
    main()
