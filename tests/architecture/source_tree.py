# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the C++ sources for check_sources.py: files, includes, calls with their arguments."""
import functools
import os
import re
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LAYERS = ["core", "comm", "model", "input", "app"]  # each may include itself and the ones before it

# Sub-folders of each layer. Each may include itself and the ones before it.
SUBFOLDERS = {
    "core": ["core/system", "core/device", "core/simd", "core/random", "core/layout", "core/memory", "core/gemm"],
    "comm": ["comm/transport", "comm/collective", "comm/compression"],
    "model": ["model/layers", "model/layout", "model/batch", "model/heads", "model/optim", "model/optim/monitor",
              "model/optim/rules", "model/optim/strategies/average", "model/optim/strategies/one_bit", "model/bert"],
    "input": ["input/files", "input/threads", "input/text", "input/hdf5", "input/deck", "input/shards", "input/prepare"],
    "app": ["app/format", "app/launch", "app/machine", "app/checkpoint", "app/statistics", "app/log", "app/train/step",
            "app/train", "app/estimate", "app/bench", "app/commands"],
}
TIES = []  # sources that may include all sub-folders of their folder


@functools.lru_cache(maxsize=None)
def files():
    """Returns paths relative to the root: the files that git does not ignore; without git, all files outside build*/."""
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        found = listing.stdout.split("\n")
    else:
        found = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(ROOT)
                 for name in names if not os.path.relpath(folder, ROOT).startswith(("build", ".git", ".cache"))]
    return sorted(path for path in found if path and os.path.isfile(os.path.join(ROOT, path)))


def sources(*folders, ending=(".cpp", ".hpp")):
    return [path for path in files() if path.split("/")[0] in folders and path.endswith(ending)]


@functools.lru_cache(maxsize=None)
def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def code(path):
    """Returns the text with comments replaced by spaces, so that offsets and line numbers stay."""
    pattern = r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'

    def blank(match):
        found = match.group()
        return found if found[0] in 'R"' else re.sub(r"[^\n]", " ", found)

    return re.sub(pattern, blank, text(path), flags=re.S)


@functools.lru_cache(maxsize=None)
def code_without_strings(path):
    return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda match: '"' + " " * (len(match.group()) - 2) + '"', code(path))


def line(path, offset):
    return f"{path}:{text(path).count(chr(10), 0, offset) + 1}"


@functools.lru_cache(maxsize=None)
def includes(path):
    """Returns [(place, quote or angle bracket, name)] of the includes of a file."""
    return [(line(path, match.start()), match.group(1), match.group(2))
            for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', code(path), flags=re.M)]


@functools.lru_cache(maxsize=None)
def included_foreign(path):
    """Returns the names of headers outside the tree that a file includes, directly or through headers of the tree."""
    found, seen, left = set(), {path}, [path]
    while left:
        for _, _, name in includes(left.pop()):
            if name not in files():
                found.add(name)
            elif name not in seen:
                seen.add(name)
                left.append(name)
    return found


@functools.lru_cache(maxsize=None)
def sees(path):
    """Returns the set of all headers that a file includes, directly or through headers of this tree."""
    seen, todo = set(), [path]
    while todo:
        for _, _, name in includes(todo.pop()):
            if name not in seen:
                seen.add(name)
                if name in files():
                    todo.append(name)
    return frozenset(seen)


def sees_kokkos(path):
    return any(name.startswith("Kokkos_") for name in sees(path))


def calls(path, pattern):
    """Returns [(place, name, [arguments])] of calls whose name matches; splits arguments at top-level commas."""
    found, body, bare = [], code(path), code_without_strings(path)
    for match in re.finditer(rf"\b({pattern})\s*(?:<[^;(]*>)?\s*\(", bare):
        depth, start, arguments = 1, match.end(), []
        for position in range(match.end(), len(bare)):
            letter = bare[position]
            if letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            if depth == 0 or (depth == 1 and letter == ","):
                arguments.append(body[start:position].strip())
                start = position + 1
            if depth == 0:
                break
        found.append((line(path, match.start()), match.group(1), [each for each in arguments if each]))
    return found


def at_commas(parameters):
    """Splits a list of parameters at its commas, not at those inside brackets or template arguments."""
    found, depth, start = [], 0, 0
    for position, letter in enumerate(parameters):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and parameters[position - 1] != "-"):
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(parameters[start:position].strip())
            start = position + 1
    return [each for each in (*found, parameters[start:].strip()) if each]


# Words before a name and a bracket that are no type: what follows is a call.
NO_TYPE = {"return", "co_return", "throw", "else", "case", "new", "delete", "not", "and", "or", "define", "defined", "asm"}


@functools.lru_cache(maxsize=None)
def declarations(path):
    """Returns [(place, name, [parameters])] of the functions and constructors that a header declares or defines."""
    found, body = [], code_without_strings(path)
    classes = set(re.findall(r"\b(?:class|struct)\s+(\w+)", body))
    for match in re.finditer(r"(\b\w+|\boperator\s*[^\s\w]+)\s*\((?!\))", body):
        name, before = match.group(1), body[: match.start()].rstrip()
        word = re.search(r"(\w+|\W)?$", before).group()
        typed = word in ("*", "&", ">") or (re.fullmatch(r"[A-Za-z_]\w*", word) and word not in NO_TYPE)
        constructs = name in classes and re.search(r"([;{}>]|\bexplicit|\b(public|protected|private)\s*:)$", before)
        if not (typed or constructs) or before.endswith(("&&", "->")):
            continue
        depth, end = 1, match.end()
        while depth > 0 and end < len(body):
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        found.append((line(path, match.start()), name, at_commas(body[match.end() : end - 1])))
    return found
