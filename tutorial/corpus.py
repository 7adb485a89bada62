# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the text that `bellwether prepare` reads from a folder of Markdown (.md or .md.gz).

Every section under a heading becomes a document: one line per paragraph, and a blank line at the end.
Usage: corpus.py FOLDER FILE
"""
import gzip
import os
import re
import sys

SHORTEST = 40  # words; tables of contents and lists of links are not prose


def plain(paragraph):
    """Returns one paragraph on one line, without Markdown's marks."""
    paragraph = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)  # links and images: their text
    paragraph = re.sub(r"\\([^\w\s])", r"\1", paragraph)
    paragraph = re.sub(r"[*`_]+(?=\S)|(?<=\S)[*`_]+", "", paragraph)
    paragraph = re.sub(r"^\s*([>*+-]|\d+\.)\s+", "", paragraph, flags=re.M)
    return " ".join(paragraph.split())


def documents(text):
    """Yields the documents of one Markdown file, each as a list of paragraphs."""
    for section in re.split(r"^#+ .*$", text, flags=re.M):
        paragraphs = [plain(each) for each in re.split(r"\n\s*\n", section)]
        paragraphs = [each for each in paragraphs if re.search(r"\w", each)]
        if sum(len(each.split()) for each in paragraphs) >= SHORTEST:
            yield paragraphs


def main():
    folder, out = sys.argv[1:]
    found = 0
    with open(out, "w", encoding="utf-8") as corpus:
        for path in sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names):
            if path.endswith((".md", ".md.gz")):
                opened = gzip.open if path.endswith(".gz") else open
                with opened(path, "rt", encoding="utf-8", errors="replace") as file:
                    for document in documents(file.read()):
                        found += 1
                        corpus.write("\n".join(document) + "\n\n")
    if not found:
        sys.exit(f"no Markdown with prose in {folder}")
    print(f"{found} documents in {out}")


if __name__ == "__main__":
    main()
