# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks rules of the source tree that a compiler does not check. Usage: check_sources.py RULE; prints the violations.

Each rule is a function that yields one line per violation: the place, the fault, and what is allowed.
"""
import fnmatch
import os
import re
import statistics
import sys
import urllib.parse

import pages
import source_tree as tree

PRODUCT = tree.sources(*tree.LAYERS)
ALL = PRODUCT + tree.sources("tests")
SIZE_LIMIT = {"tests": 600}  # lines; product files: 400
# These sources may use blocking copies: they copy tables once, in a constructor, which should wait for all work.
BLOCKING_COPIES = ["core/memory/block_table.cpp", "model/optim/tensor_rules.hpp"]
KOKKOS_SOURCES_LIMIT = 72  # a device compiler needs 9 to 14 s for each


def include_arrows():
    """app -> input -> model -> comm -> core; a folder includes itself and the folders to its right."""
    for path in PRODUCT:
        layer = tree.LAYERS.index(path.split("/")[0])
        for where, kind, name in tree.includes(path):
            folder = name.split("/")[0]
            if folder in tree.LAYERS and tree.LAYERS.index(folder) > layer:
                yield f"{where}: {path.split('/')[0]} includes {name}; arrows go app -> input -> model -> comm -> core"
            if folder == "tests":
                yield f"{where}: the product includes {name}; only tests may"
            if kind == '"' and name not in tree.files():
                yield f"{where}: {name} is not a path from the root of the tree"
            if path.startswith("model/layers/") and folder in tree.LAYERS:
                if not name.startswith(("core/", "model/layers/")) and name != "model/model_config.hpp":
                    yield f"{where}: layers include {name}; they may use core, themselves and model/model_config.hpp"
            if path.startswith("model/optim/") and name.startswith("model/layers/"):
                yield f"{where}: an optimizer includes {name}; optimizers know no layers"


def subfolder_arrows():
    """Inside a top folder, a sub-folder includes itself, the headers beside the sub-folders, and the sub-folders listed
    before it. Sources beside the sub-folders tie them together and may include all of them."""
    for path in PRODUCT:
        top, _, _ = path.partition("/")
        subfolder = os.path.dirname(path)
        subfolders = tree.SUBFOLDERS[top]
        if subfolder != top and subfolder not in subfolders:
            yield f"{path}: {subfolder}/ is not in SUBFOLDERS of tests/architecture/source_tree.py; list it behind what it includes"
            continue
        if subfolder == top and path.endswith(".cpp") or path in tree.TIES:
            continue
        allowed = [top] if subfolder == top else [top, *subfolders[:subfolders.index(subfolder) + 1]]
        for where, _, name in tree.includes(path):
            if name.startswith(top + "/") and os.path.dirname(name) not in allowed:
                yield f"{where}: {subfolder} includes {name}; allowed are {', '.join(allowed)}"


def subfolder_sizes():
    """A folder of sources is read in one sitting: at most 20 sources and 20 headers."""
    count = {}
    for path in PRODUCT:
        key = os.path.dirname(path), os.path.splitext(path)[1]
        count[key] = count.get(key, 0) + 1
    for (subfolder, ending), files in sorted(count.items()):
        if files > 20:
            yield f"{subfolder}/: {files} files *{ending}; the limit is 20: cut it by subject"


# The files that may include third-party headers: (pattern of the header, pattern of the files).
OWNERS = [
    (r"mpi\.h", r"comm/"),
    (r"nccl\.h", r"comm/"),
    (r"hdf5\.h|hdf5/.*|H5\w+\.h", r"input/hdf5/hdf5_file\w*\.(cpp|hpp)"),
    (r"yaml-cpp/.*", r"input/deck/\w+\.cpp"),
    (r"nlohmann/.*", r"(app|input|model)/.*\.cpp"),
    (r"CLI/.*", r"app/commands/command_line\.cpp"),
    (r"cblas\.h|cublas\w*\.h", r"core/.*\.cpp"),
    (r"utf8proc\.h", r"input/.*\.cpp"),
    (r"zlib\.h", r"(app|input)/.*\.cpp"),
    (r"cuda\w*\.h", r"(core|comm)/.*\.cpp|core/device/status_cuda\.hpp"),  # status_cuda.hpp is only for CUDA sources
]
SLOW_HEADERS = [r"CLI/.*"]  # 10 s in each source


def foreign_headers():
    """Only one component includes each third-party header. Tests may include them, except SLOW_HEADERS."""
    for path in ALL:
        for where, _, name in tree.includes(path):
            for header, owner in OWNERS:
                free = path.startswith("tests/") and header not in SLOW_HEADERS
                if re.fullmatch(header, name) and not re.match(owner, path) and not free:
                    yield f"{where}: {name}; allowed in {owner}"


def kokkos_sources():
    """Headers of app/ and input/ do not include Kokkos, even indirectly. CMake lists as KOKKOS exactly the sources that do."""
    for path in tree.sources("app", "input", ending=".hpp"):
        if tree.sees_kokkos(path):
            via = [name for _, _, name in tree.includes(path) if name in tree.files() and tree.sees_kokkos(name)]
            yield f"{path}: leads to Kokkos through {', '.join(via) or 'its own include'}"
    count = {}
    for listing in (path for path in tree.files() if re.fullmatch(r"(core|comm|model|input|app)(/.*)?/CMakeLists.txt", path)):
        folder = listing.rsplit("/", 1)[0]
        kind = ""
        for word in re.findall(r"[^\s()]+", re.sub(r"#.*", "", tree.text(listing))):
            if word in ("KOKKOS", "PLAIN", "DEVICE", "HOST", "CUDA", "CUDA_PLAIN", "LINK"):
                kind = word
            elif word.endswith(".cpp") and f"{folder}/{word}" in tree.files():
                seen = tree.sees_kokkos(f"{folder}/{word}")
                count[kind] = count.get(kind, 0) + seen
                if seen != (kind in ("KOKKOS", "DEVICE", "HOST", "CUDA")):
                    yield f"{listing}: {word} is listed under {kind}, but {'sees' if seen else 'does not see'} Kokkos"
    for build in (("KOKKOS", "CUDA"), ("KOKKOS", "DEVICE", "HOST")):
        together = sum(count.get(kind, 0) for kind in build)
        if together > KOKKOS_SOURCES_LIMIT:
            yield f"{together} sources of one build see Kokkos; the limit is {KOKKOS_SOURCES_LIMIT}"


def kernel_labels():
    """Every kernel has a label bellwether::<component>::<step> and runs on an execution space instance from the caller."""
    for path in PRODUCT:
        component = path.split("/")[0]
        for where, name, arguments in tree.calls(path, r"(?:parallel_(?:for|reduce|scan)|for_each_row(?:_by_teams)?)"):
            label = arguments[0] if arguments else ""
            inner = r"(?:Kokkos::)?(?:TeamThreadRange|TeamVectorRange|ThreadVectorRange)\b"
            if re.match(inner, label):
                continue
            if label.startswith('"'):
                if not re.fullmatch(r'"bellwether::\w+(::\w+)+"', label):
                    yield f"{where}: {name} is labelled {label}; allowed: bellwether::<component>::<step>"
            elif not re.search(r"label", label):
                yield f"{where}: {name} has no label ({component}); the first argument is {label[:40]}"
        for match in re.finditer(r'\blaunch<("[^"]*")>', tree.code(path)):
            if not re.fullmatch(r'"bellwether::\w+(::\w+)+"', match.group(1)):
                yield f"{tree.line(path, match.start())}: launch is labelled {match.group(1)}; allowed: bellwether::<component>::<step>"
        for where, name, arguments in tree.calls(path, r"(?:Range|MDRange|Team)Policy"):
            if not arguments or not re.match(r"\w*(exec|space|instance)\w*", arguments[0]):
                yield f"{where}: {name} without an execution space instance as its first argument"


# The files that may ask for which compiler or execution space core is compiled; the first one serves plain sources without Kokkos.
CHOOSERS = ["core/compiler.hpp", "core/space.hpp"]
SPACE_NAMES = r"\b(KOKKOS_ENABLE_\w+|__(?:CUDA|HIP|SYCL)\w*|__NVCC__|SYCL_LANGUAGE_VERSION|BELLWETHER_DEVICE_TEAMS)\b"


def space_branches():
    """Only CHOOSERS branch on a compiler or an execution space; the rest of core calls what they choose."""
    for path in (path for path in tree.sources("core") if path not in CHOOSERS):
        for match in re.finditer(r"^[ \t]*#[ \t]*(?:el)?if(?:\\\n|[^\n])*", tree.code(path), flags=re.M):
            for name in re.findall(SPACE_NAMES, match.group()):
                yield f"{tree.line(path, match.start())}: branches on {name}; allowed in {' and '.join(CHOOSERS)}"


def fences():
    """Every fence has a reason. No copy uses the implicit default instance, because such a copy fences."""
    for path in PRODUCT:
        for match in re.finditer(r"\bfence\s*\(\s*\)", tree.code(path)):
            yield f"{tree.line(path, match.start())}: fence() without a reason"
        for where, name, arguments in tree.calls(path, r"Kokkos::deep_copy"):
            if len(arguments) < 3 and path not in BLOCKING_COPIES:
                yield f"{where}: {name} without an execution space instance"


def file_sizes():
    """Product files have at most 400 lines, tests 600. Half of the product files have at most 120, nine in ten at most 300."""
    lines = {path: tree.text(path).count("\n") for path in ALL + [p for p in tree.files() if p.endswith(".py")]}
    for path, count in lines.items():
        limit = SIZE_LIMIT.get(path.split("/")[0], 400)
        if count > limit:
            yield f"{path}: {count} lines; the limit is {limit}"
    sizes = [lines[path] for path in PRODUCT]
    median, high = statistics.median(sizes), statistics.quantiles(sizes, n=10)[-1]
    if median > 120 or high > 300:
        yield f"median {median} lines, nine in ten up to {high}; the limits are 120 and 300"


def licence_lines():
    """Every source and script begins with its copyright and licence."""
    for path in tree.files():
        if path.endswith((".cpp", ".hpp", ".py")) or tree.text(path).startswith("#!"):
            head = "\n".join(tree.text(path).split("\n")[:3])
            if "SPDX-FileCopyrightText:" not in head or "SPDX-License-Identifier: BSD-3-Clause" not in head:
                yield f"{path}: does not begin with the two SPDX lines"


def habits():
    """No exit outside main (only World::abort, which main calls, ends the job), no notes on unfinished work, no vague names."""
    for path in ALL:
        product = not path.startswith("tests/")
        for match in re.finditer(r"\b(std::)?(exit|abort|_Exit|quick_exit)\s*\(", tree.code_without_strings(path)):
            if product and not path.startswith(("comm/transport/world.", "comm/transport/mpi_ranks.", "comm/transport/call_guard.")) and not tree.code(path)[: match.start()].endswith((".", "->", "_")):
                yield f"{tree.line(path, match.start())}: {match.group()}...); throw, and let main end the program"
        for match in re.finditer(r"\b(TODO|FIXME|XXX|HACK)\b", tree.text(path)):
            yield f"{tree.line(path, match.start())}: {match.group()}"
    for path in tree.files():
        if re.search(r"(^|/)(utils?|common|misc|helpers?)(\.\w+)?(/|$)", path):
            yield f"{path}: a name that does not say what is inside"


# The header of each name of the standard library. BROUGHT_BY lists other headers that also provide the names of a header.
STANDARD_NAMES = {
    "algorithm": "min max clamp sort copy copy_n fill fill_n any_of all_of find_if transform",
    "array": "array", "atomic": "atomic", "bit": "bit_cast popcount countr_zero",
    "charconv": "from_chars to_chars", "cmath": "sqrt isfinite isnan pow floor ceil lround",
    "condition_variable": "condition_variable", "cstdint": "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t",
    "cstdio": "FILE fopen fclose snprintf fwrite fflush", "cstdlib": "getenv strtol strtod", "cstring": "memcpy memcmp memset strerror",
    "deque": "deque", "exception": "exception exception_ptr current_exception rethrow_exception", "filesystem": "filesystem",
    "fstream": "ifstream ofstream", "functional": "function", "iostream": "cout cerr", "limits": "numeric_limits", "map": "map",
    "memory": "unique_ptr shared_ptr make_unique make_shared", "mutex": "mutex lock_guard unique_lock scoped_lock",
    "numeric": "accumulate iota", "optional": "optional nullopt", "set": "set", "span": "span", "sstream": "istringstream ostringstream",
    "string": "string to_string", "string_view": "string_view", "thread": "thread", "tuple": "tuple",
    "type_traits": "is_same_v is_void_v conditional_t decay_t", "unordered_map": "unordered_map", "variant": "variant",
    "vector": "vector", "chrono": "chrono",
}
STANDARD_HEADER = {name: header for header, names in STANDARD_NAMES.items() for name in names.split()}
BROUGHT_BY = {"string_view": ("string",), "exception": ("stdexcept",), "cstdint": ("cinttypes",)}


def standard_headers():
    """A file includes the standard headers of the names that it uses, directly or through headers of the tree.

    The compiler does not notice a missing one, because the precompiled header contains it."""
    for path in PRODUCT:
        found = tree.included_foreign(path)
        for name in sorted(set(re.findall(r"\bstd::(\w+)", tree.code_without_strings(path)))):
            header = STANDARD_HEADER.get(name)
            if header and found.isdisjoint((header, *BROUGHT_BY.get(header, ()))):
                yield f"{path}: uses std::{name}, and no include leads to <{header}>"


PARAMETERS_LIMIT = 6
# Functions that may have more parameters.
LONG_SIGNATURES = {
    ("model/layers/layer_norm_lanes.hpp", "of_rows"),  # inside a kernel; most are arrays in registers of the caller
}


def long_signatures():
    """A function or constructor of a product header has at most 6 parameters. More are members of a struct, with a line each."""
    for path in tree.sources(*tree.LAYERS, ending=".hpp"):
        for where, name, parameters in tree.declarations(path):
            if len(parameters) > PARAMETERS_LIMIT and (path, name) not in LONG_SIGNATURES:
                yield f"{where}: {name} has {len(parameters)} parameters; at most {PARAMETERS_LIMIT}: name them in a struct"


def files_and_folders():
    known = set(tree.files())
    for path in list(known):
        while path := os.path.dirname(path):
            known.add(path)
    return known


def links():
    """Every relative link of a Markdown file leads to a file or folder of the tree, and its anchor to a heading there."""
    known = files_and_folders()
    for path in tree.files():
        for where, target in pages.links(path) if path.endswith(".md") else []:
            if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            page = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if page not in known:
                yield f"{where}: {target} leads to {page}, which is not in the tree; links are relative to the page"
            elif anchor and page.endswith(".md") and anchor not in pages.anchors(page):
                yield f"{where}: {target}: {page} has no heading for #{anchor}"


TOP_FOLDERS = (*tree.LAYERS, "tests", "docs", "cmake", "spack", "tutorial")
HISTORY = ("CHANGELOG.md", "docs/results/log/")  # their files had these names then


def named_paths():
    """Every path that a page names as code exists, relative to the root of the tree or to tests/."""
    known = files_and_folders()
    for path in tree.files():
        for where, name in pages.code_spans(path) if path.endswith(".md") and not path.startswith(HISTORY) else []:
            if not re.fullmatch(rf"({'|'.join(TOP_FOLDERS)})/[\w./*-]*", name):
                continue
            wanted = name.rstrip("/")
            if not any(fnmatch.filter(known, folder + wanted) for folder in ("", "tests/")):
                yield f"{where}: {name} is not in the tree; name a file or folder from the root, or from tests/"


MAPS = ["docs/developer/architecture.md"]
NAMING = [*MAPS, "docs/developer/kernels.md"]  # their tables name functions of files


def named_functions():
    """In a table of NAMING with a column of files, each file, or its header or source, contains the names of the same row."""
    for path in (page for page in NAMING if page in tree.files()):
        for where, row in pages.rows(path):
            file = row.get("file", "").strip("`")
            sources = [name for name in tree.files() if os.path.splitext(name)[0] == os.path.splitext(file)[0]]
            text = "\n".join(map(tree.code, sources))
            for cell in (row.get("function", ""), row.get("name in code", "")) if sources else ():
                for name in re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", cell))):
                    if not re.search(rf"\b{name}\b", text):
                        yield f"{where}: {file} does not hold {name}"


def subfolders_listed():
    """A map has one row for each sub-folder, in the order of SUBFOLDERS."""
    for path in (page for page in MAPS if page in tree.files()):
        first = [next(iter(row.values())).strip("`") for _, row in pages.rows(path)]
        for top, subfolders in tree.SUBFOLDERS.items():
            found = [name for name in first if name.startswith(top + "/") and "." not in name]
            if found != subfolders:
                wrong = [name for name in (*subfolders, *found) if (name in subfolders) != (name in found)]
                yield f"{path}: sub-folders of {top}/: {', '.join(wrong) or 'another order'}; list each once, as SUBFOLDERS of source_tree.py does"


def diagrams():
    """The picture of each Graphviz source shows its nodes, edges and labels."""
    for path in (name for name in tree.files() if name.endswith(".dot")):
        picture = path[:-4] + ".svg"
        told, shown = pages.diagram_names(path), pages.picture_names(picture) if picture in tree.files() else set()
        if told != shown:
            yield f"{path}: {picture} is of another text ({', '.join(sorted(told ^ shown)[:5])}); dot -Tsvg {path} -o {picture}"


RULES = [include_arrows, subfolder_arrows, subfolder_sizes, foreign_headers, kokkos_sources, kernel_labels, space_branches, fences, file_sizes, licence_lines,
         habits, standard_headers, long_signatures, links, named_paths, named_functions, subfolders_listed, diagrams]


def main():
    chosen = [rule for rule in RULES if rule.__name__ in sys.argv[1:]] or RULES
    faults = [f"{fault}  [{rule.__name__}]" for rule in chosen for fault in rule()]
    print("\n".join(faults) or f"{len(ALL)} sources keep {', '.join(rule.__name__ for rule in chosen)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
