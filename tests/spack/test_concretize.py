# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that Spack concretizes each environment of spack/environments and finds no fault in the recipe. Without Spack 1.1 or
newer in PATH, exits with 4, ctest's code for skipped."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED = {"cpu": ("~cuda", "+openmp"), "cuda": ("+cuda", "cuda_arch:=90")}

COMMON = {"hdf5": ("hdf5@1.",), "openblas": ("threads=openmp",)}
PARTS = {"cpu": COMMON | {"kokkos": ("kokkos@4.", "~cuda", "+serial", "+openmp", "cxxstd=20")},
         "cuda": COMMON | {"kokkos": ("kokkos@4.", "+cuda", "+cmake_lang", "+cuda_lambda", "~shared", "cuda_arch=90"),
                           "nccl": ("+cuda", "cuda_arch:=90")}}
REFUSED = {"bellwether +cuda": "name the GPUs", "bellwether +cuda cuda_arch=90a": "cuda_arch is one of"}


def missing():
    """Returns why this test cannot run here, or an empty text if it can."""
    if shutil.which("spack") is None:
        return "no spack"
    told = subprocess.run(["spack", "--version"], check=False, capture_output=True, text=True).stdout
    version = re.match(r"(\d+)\.(\d+)", told)
    return "" if version and (int(version[1]), int(version[2])) >= (1, 1) else f"Spack 1.1 or newer is needed, not {told.strip()}"


def spack(*words):
    done = subprocess.run(["spack", *map(str, words)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"spack {' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def main():
    if reason := missing():
        print(f"skipped: {reason}")
        sys.exit(4)
    with tempfile.TemporaryDirectory() as folder:
        for name, variants in WANTED.items():
            # Uses a copy, because Spack writes its results beside the file.
            environment = pathlib.Path(folder, name)
            environment.mkdir()
            deck = (ROOT / f"spack/environments/{name}/spack.yaml").read_text(encoding="utf-8")
            here = deck.replace("../../spack_repo", f"{ROOT}/spack/spack_repo").replace("../../..", str(ROOT))
            (environment / "spack.yaml").write_text(here, encoding="utf-8")
            solved = spack("-e", environment, "spec", "--fresh")
            line = re.search(r"^.*\bbellwether@main.*$", solved, re.MULTILINE)[0]
            assert all(variant in line for variant in variants) and f"dev_path={ROOT}" in line, line
            for package, wanted in PARTS[name].items():
                part = re.search(rf"\^{package}@.*$", solved, re.MULTILINE)[0]
                assert all(variant in part for variant in wanted), part
            spack("-e", environment, "audit", "packages", "bellwether")
            for spec, reason in REFUSED.items():
                told = subprocess.run(["spack", "-e", environment, "spec", "--fresh", spec], check=False, capture_output=True,
                                      text=True)
                assert told.returncode != 0 and reason in told.stderr, (spec, told.stderr)


if __name__ == "__main__":
    main()
