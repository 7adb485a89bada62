# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads pages for check_sources.py: links, anchors, code and tables; also the contents of diagrams and their pictures."""
import functools
import html
import re

import source_tree as tree


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_blocks(text):
    """Returns the text with blocks of code and comments replaced by spaces, so that offsets and line numbers stay."""
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[`~]*[ \t]*$", blank, text, flags=re.S | re.M)
    lines, code, before = [], False, ""
    for line in text.split("\n"):
        indented = line.startswith(("    ", "\t"))
        code = bool(line.strip()) and indented and (code or not before.strip()) or code and not line.strip()
        lines.append(" " * len(line) if code else line)
        before = line
    return "\n".join(lines)


def without_code(text):
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, without_blocks(text), flags=re.S)


def links(path):
    """Returns [(place, target)] of links, images and references of a page."""
    text = without_code(tree.text(path))
    patterns = (r"\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)", r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)", r"\b(?:href|src)=\"([^\"]*)\"")
    return [(tree.line(path, match.start(1)), match.group(1))
            for pattern in patterns for match in re.finditer(pattern, text, flags=re.M)]


@functools.lru_cache(maxsize=None)
def anchors(path):
    """Returns the anchors of a page: those that GitHub and GitLab make from its headings, and explicit ones."""
    text = without_blocks(tree.text(path))
    found = set(re.findall(r"\b(?:id|name)=\"([^\"]+)\"", without_code(tree.text(path))))
    for match in re.finditer(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", text, flags=re.M):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1))
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number, unique = 0, name
        while unique in found:
            number += 1
            unique = f"{name}-{number}"
        found.add(unique)
    return frozenset(found)


def code_spans(path):
    """Returns [(place, text)] of code inside lines of text."""
    return [(tree.line(path, match.start()), match.group(1)) for match in re.finditer(r"`([^`\n]+)`", without_blocks(tree.text(path)))]


def rows(path):
    """Returns [(place, {column: cell})] of all tables."""
    found, columns = [], []
    for number, line in enumerate(without_blocks(tree.text(path)).split("\n"), 1):
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = [cell.strip() for cell in line.strip("|").split("|")]
        elif not re.fullmatch(r"[|:\- ]+", line):
            found.append((f"{path}:{number}", dict(zip(columns, (cell.strip() for cell in line.strip("|").split("|"))))))
    return found


def diagram_names(path):
    """Returns nodes, edges and lines of labels of a Graphviz source, in the form of its picture."""
    text = re.sub(r"^\s*//.*$", "", tree.text(path), flags=re.M)
    names = set(re.findall(r"^\s*(\w+)\s*\[", text, flags=re.M)) - {"graph", "node", "edge"}
    for tail, head in re.findall(r"(\w+)\s*->\s*(\w+)", text):
        names |= {tail, head, f"{tail}->{head}"}
    return names | {line.strip() for label in re.findall(r"\blabel=\"([^\"]*)\"", text) for line in label.split("\\n")}


def picture_names(path):
    """Returns nodes, edges and lines of labels of a picture."""
    found = re.findall(r"<(title|text)\b[^>]*>(.*?)</\1>", tree.text(path), flags=re.S)
    graph = re.search(r"class=\"graph\"[^>]*>\s*<title>(.*?)</title>", tree.text(path), flags=re.S)
    return {html.unescape(name).strip() for _, name in found} - {graph.group(1) if graph else ""}
