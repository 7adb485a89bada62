# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that each rule of check_sources.py reports a source that breaks it, and accepts the same source when corrected."""
import unittest

import check_sources
import pages
import source_tree as tree


class Tree:
    """Replaces the source tree by a dictionary of paths and texts."""

    def __init__(self, sources):
        self.sources = sources

    def __enter__(self):
        self.kept = (tree.files, tree.text, check_sources.PRODUCT, check_sources.ALL)
        tree.files = lambda: sorted(self.sources)
        tree.text = self.sources.__getitem__
        self.forget()
        check_sources.PRODUCT = tree.sources(*tree.LAYERS)
        check_sources.ALL = check_sources.PRODUCT + tree.sources("tests")

    def __exit__(self, *_):
        tree.files, tree.text, check_sources.PRODUCT, check_sources.ALL = self.kept
        self.forget()

    @staticmethod
    def forget():
        for function in (tree.code, tree.code_without_strings, tree.includes, tree.included_foreign, tree.sees, tree.declarations,
                         pages.anchors):
            function.cache_clear()


MAP = check_sources.MAPS[0]
LISTED = [name for names in tree.SUBFOLDERS.values() for name in names]
TABLE = "| folder | content |\n|---|---|\n" + "".join(f"| `{name}` | x |\n" for name in LISTED)
DOT = 'digraph d {\n  // two [x]\n  graph [bgcolor=white];\n  one [label="a\\nb <c"];\n  one -> two [label=" to "];\n}\n'
SVG = ('<g id="graph0" class="graph">\n<title>d</title>\n<title>one</title>\n<text x="1">a</text>\n<text>b &lt;c</text>\n'
       '<title>two</title>\n<title>one&#45;&gt;two</title>\n<text>to</text></g>\n')
BROKEN = [
    ("include_arrows", {"core/a.cpp": '#include "comm/b.hpp"\n', "comm/b.hpp": ""}),
    ("include_arrows", {"core/a.cpp": '#include "a.hpp"\n', "core/a.hpp": ""}),
    ("include_arrows", {"model/layers/a.cpp": '#include "comm/b.hpp"\n', "comm/b.hpp": ""}),
    ("subfolder_arrows", {"core/system/a.hpp": '#include "core/gemm/b.hpp"\n', "core/gemm/b.hpp": ""}),
    ("subfolder_arrows", {"core/a.hpp": '#include "core/gemm/b.hpp"\n', "core/gemm/b.hpp": ""}),
    ("subfolder_arrows", {"core/unlisted/a.hpp": ""}),
    ("subfolder_sizes", {f"core/system/{letter}.cpp": "" for letter in "abcdefghijklmnopqrstu"}),
    ("foreign_headers", {"model/a.cpp": "#include <mpi.h>\n"}),
    ("foreign_headers", {"app/a.cpp": "#  include <hdf5.h>\n"}),
    ("foreign_headers", {"input/a.hpp": "#include <yaml-cpp/yaml.h>\n"}),
    ("foreign_headers", {"app/a.hpp": "#include <CLI/CLI.hpp>\n"}),
    ("foreign_headers", {"app/commands/command_line.hpp": "#include <CLI/CLI.hpp>\n"}),
    ("foreign_headers", {"tests/app/a.cpp": "#include <CLI/CLI.hpp>\n"}),
    ("kokkos_sources", {"input/a.hpp": '#include "core/b.hpp"\n', "core/b.hpp": "#include <Kokkos_Core.hpp>\n"}),
    ("kokkos_sources", {"core/a.cpp": "#include <Kokkos_Core.hpp>\n", "core/CMakeLists.txt": "f(core PLAIN a.cpp)"}),
    ("kernel_labels", {"core/a.cpp": "Kokkos::parallel_for(n, f);\n"}),
    ("kernel_labels", {"core/a.cpp": 'Kokkos::parallel_for("core::x", p, f);\n'}),
    ("kernel_labels", {"core/a.cpp": 'launch<"core::x">(p, f);\n'}),
    ("kernel_labels", {"core/a.cpp": "auto p = Kokkos::RangePolicy<Space>(0, n);\n"}),
    ("space_branches", {"core/a.hpp": "#ifdef KOKKOS_ENABLE_CUDA\n#endif\n"}),
    ("space_branches", {"core/space_cuda.hpp": "#if 0\n#elif defined(__CUDA_ARCH__)\n#endif\n"}),
    ("space_branches", {"core/device/a.cpp": "  # if defined(X) || \\\n   !defined(__HIPCC__)\n#endif\n"}),
    ("fences", {"core/a.cpp": "exec.fence();\n"}),
    ("fences", {"core/a.cpp": "Kokkos::deep_copy(a, f(b, c));\n"}),
    ("file_sizes", {"core/a.cpp": "\n" * 401, "core/b.cpp": "\n"}),
    ("licence_lines", {"core/a.cpp": "int x;\n"}),
    ("habits", {"core/a.cpp": "  std::exit(1);\n"}),
    ("habits", {"core/utils.hpp": ""}),
    ("standard_headers", {"core/a.cpp": '#include "core/b.hpp"\nstd::vector<std::string> v;\n', "core/b.hpp": "#include <string>\n"}),
    ("long_signatures", {"core/a.hpp": "void f(int a, int b, int c,\n       int d, int e, int f, int g);\n"}),
    ("long_signatures", {"core/a.hpp": "template <class T>\nT* f(T&, T&, T&, T&, T&, T&, T&);\n"}),
    ("long_signatures", {"core/a.hpp": "struct A {\n  A(int a, int b, int c, int d, int e, int f, int g = 0);\n};\n"}),
    ("long_signatures", {"core/a.hpp": "struct A {\n  bool operator()(int, int, int, int, int, int, int) const;\n};\n"}),
    ("links", {"docs/a.md": "[one\nname](b.md)\n"}),
    ("links", {"docs/a.md": "[`code`](../docs/b.md)\n", "b.md": ""}),
    ("links", {"docs/a.md": "[x](#two)\n\n    # two\n"}),
    ("links", {"docs/a.md": "[x](b.md#one-1)\n", "docs/b.md": "# One\n"}),
    ("links", {"docs/a.md": "![picture](a.svg)\n"}),
    ("links", {"docs/a.md": "[x][y]\n\n[y]: b.md\n"}),
    ("links", {"docs/a.md": "[x](../../a.md)\n"}),
    ("named_paths", {"docs/a.md": "In `core/gemm/`.\n", "core/gemm.cpp": ""}),
    ("named_paths", {"docs/a.md": "| `app/*.cpp` |\n", "app/a.hpp": ""}),
    ("named_functions", {MAP: "| file | function |\n|---|---|\n| `core/a.cpp` | `A::g`: ends it |\n", "core/a.cpp": "A a; // g\n"}),
    ("named_functions", {check_sources.NAMING[1]: "| name in code | file |\n|---|---|\n| `f`, `g` | `core/a.hpp` |\n", "core/a.hpp": "void f();\n"}),
    ("subfolders_listed", {MAP: TABLE.replace("| `core/gemm` | x |\n", "")}),
    ("subfolders_listed", {MAP: TABLE + "| `core/other` | x |\n"}),
    ("diagrams", {"docs/a.dot": DOT}),
    ("diagrams", {"docs/a.dot": DOT, "docs/a.svg": SVG.replace("b &lt;c", "b")}),
    ("diagrams", {"docs/a.dot": DOT.replace("one ->", "two ->"), "docs/a.svg": SVG}),
]
SPDX = "// SPDX-FileCopyrightText: x\n// SPDX-License-Identifier: BSD-3-Clause\n"
SOUND = {
    "core/space.hpp": SPDX + "#if defined(__CUDA_ARCH__)\n#endif\n",
    "core/words.hpp": SPDX + "// #if defined(__CUDA_ARCH__)\n#if defined(__AVX2__)\n#endif\n",
    "core/a.hpp": SPDX + "#include <Kokkos_Core.hpp>\n",
    "core/a.cpp": SPDX + '#include "core/a.hpp"\n'
    'void f() { Kokkos::parallel_for("bellwether::core::f", Kokkos::RangePolicy<Space>(exec, 0, n), f);\n'
    '  Kokkos::deep_copy(exec, a, b); /* exec.fence() */ exec.fence("read by the host"); // std::exit(1)\n'
    '  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), f); }\n',
    "core/CMakeLists.txt": "bellwether_component(core\n  KOKKOS a.cpp\n  LINK x)\n",
    "app/commands/command_line.cpp": SPDX + "#include <CLI/CLI.hpp>\n",
    "tests/core/c.cpp": SPDX + "#include <nlohmann/json.hpp>\n",
    "app/b.hpp": SPDX + "#include <vector>\nclass A { void at_exit(); };\n"
    "void f(Map<int, int> const& a, int b, int c, int d, int e, Call<void(int, int)> const& g = {1, 2});\n"
    "inline void i() { asm volatile(\"\" : \"+f\"(a) : \"r\"(b), \"r\"(c), \"r\"(d), \"r\"(e), \"r\"(f), \"r\"(g), \"r\"(h)); }\n"
    "inline int h() { return g(1, 2, 3, 4, 5, 6, 7) && g(1, 2, 3, 4, 5, 6, 7); }\n",
    "app/b.cpp": SPDX + '#include "app/b.hpp"\nstd::vector<int> v; // std::string\n',
    "docs/a.md": "# A `b_c`: [d](../app/) or `--e`?\n[x](#a-b_c-d-or---e) [up](../b.md#two-1) [out](https://x.org/y#z)\n"
                 "`[x](y)` and\n\n    [x](y)\n\n```\n[x](y)\n```\n",
    "docs/a.dot": DOT,
    "docs/a.svg": SVG,
    MAP: TABLE + "\n| file | function |\n|---|---|\n| `core/a.cpp` | `f` |\n\n`tests/`, `c.cpp`, `core/c.cpp`, `app/*.hpp`\n",
    **{f"{name}/data.txt": "" for name in LISTED},
    "CHANGELOG.md": "`core/old.cpp`\n",
    "b.md": "## Two\n## Two\n[a](docs/a.md), [file](app/b.cpp#L3), <a href=\"docs\">folder</a>\n",
}


class Rules(unittest.TestCase):
    def test_broken_sources_are_noticed(self):
        for name, sources in BROKEN:
            with self.subTest(name, sources=sources), Tree(sources):
                self.assertTrue(list(getattr(check_sources, name)()))

    def test_sound_sources_pass(self):
        with Tree(SOUND):
            for rule in check_sources.RULES:
                with self.subTest(rule.__name__):
                    self.assertEqual(list(rule()), [])


if __name__ == "__main__":
    unittest.main()
