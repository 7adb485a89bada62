# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the Spack recipe with the build system. Its dependencies and their minimum versions are those of cmake/, the Python
modules of its tests are those that bootstrap installs, and the options that it sets exist. The test needs no Spack: it replaces
Spack's modules and records the directives that the recipe calls."""

import importlib.util
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = ROOT / "spack/spack_repo/bellwether/packages/bellwether/package.py"
# Spack's names of CMake's packages (lower case, - for _) if they differ. None: part of the compiler.
NAMES = {"pkgconfig": "pkgconfig", "zlib": "zlib-api", "cudatoolkit": "cuda", "threads": None}
BUILD_TOOLS = {"c", "cxx"}


class Recorded:
    """The arguments of a recipe's directives."""

    def __init__(self):
        self.specs = []  # of depends_on
        self.conflicts = []
        self.variants = []
        self.versions = {}  # branch or tag by name

    def modules(self):
        """Returns replacements of the modules that a recipe imports, by name."""
        def ignored(*_, **__):
            pass

        class When:
            def __init__(self, _):
                pass

            def __enter__(self):
                return self

            def __exit__(self, *_):
                return False

        named = {name: types.ModuleType(name) for name in (
            "spack", "spack.package", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems",
            "spack_repo.builtin.build_systems.cmake", "spack_repo.builtin.build_systems.cuda")}
        vars(named["spack_repo.builtin.build_systems.cmake"]).update(CMakePackage=type("CMakePackage", (), {}), generator=ignored)
        vars(named["spack_repo.builtin.build_systems.cuda"]).update(
            CudaPackage=type("CudaPackage", (), {"cuda_arch_values": ("80", "90", "90a")}))
        vars(named["spack.package"]).update(
            license=ignored, when=When, conflicts=lambda spec, **_: self.conflicts.append(spec),
            depends_on=lambda spec, **_: self.specs.append(spec), variant=lambda name, **_: self.variants.append(name),
            version=lambda name, branch=None, tag=None, **_: self.versions.update({name: branch or tag}))
        return named


def recorded():
    told = Recorded()
    before = dict(sys.modules)
    sys.modules.update(told.modules())
    try:
        spec = importlib.util.spec_from_file_location("recipe", RECIPE)
        module = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode = True
        spec.loader.exec_module(module)
    finally:
        sys.modules.clear()
        sys.modules.update(before)
    return told, module.Bellwether


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def found_by_cmake():
    """Returns {Spack's name: minimum version} of the packages that cmake/ finds; the version is empty if CMake names none."""
    lines = "".join(text(f"cmake/{name}.cmake") for name in ("dependencies", "cuda", "nccl"))
    least = re.findall(r"^ *find_package\(([\w-]+) ?([\d.]*)", lines, re.MULTILINE)
    least += [(name, "") for name in re.findall(r"^ *pkg_check_modules\((\w+)", lines, re.MULTILINE)]
    least += [(name, "") for name in re.findall(r"^ *find_library\(\w+ (\w+)", lines, re.MULTILINE)]
    least.append(("cmake", re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", text("CMakeLists.txt"))[1]))
    names = ((name.lower().replace("_", "-"), version) for name, version in least)
    return {NAMES.get(name, name): version for name, version in names if NAMES.get(name, name)}


def main():
    told, package = recorded()
    asked = {}  # least versions of packages
    for spec in told.specs:
        name, version = re.match(r"([\w-]+)(?:@([\d.]+):)?", spec).groups()
        asked[name] = asked.get(name) or version or ""
    modules = {name for name in asked if name.startswith("py-")}
    packages = asked.keys() - modules - BUILD_TOOLS - {"python"}
    found = found_by_cmake()
    assert packages == found.keys(), sorted(packages ^ found.keys())
    for name, version in found.items():
        assert not version or asked[name] == version, (name, version, asked[name])
    installed = re.search(r"^apt_test=\(([^)]*)\)", text("bootstrap"), re.MULTILINE)[1].split()
    assert {name.replace("python3-", "").replace("yaml", "pyyaml") for name in installed} == {name[3:] for name in modules}
    assert {"nccl@2.18:", "mpi", "kokkos cuda_arch=90", "nccl cuda_arch=90"} <= set(told.specs)
    assert "cuda_arch=none" in told.conflicts and "cuda_arch=90a" in told.conflicts and "cuda_arch=90" not in told.conflicts
    assert {base.__name__ for base in package.__bases__} == {"CMakePackage", "CudaPackage"}
    folder = re.search(r"^ *- (\S+)$", text("spack-repo-index.yaml"), re.MULTILINE)[1]
    assert RECIPE.is_relative_to(ROOT / folder) and "namespace: bellwether" in text(f"{folder}/repo.yaml")
    release = re.search(r"^project\(bellwether VERSION ([\d.]+) ", text("CMakeLists.txt"), re.MULTILINE)[1]
    assert told.versions == {"main": "main", release: f"v{release}"}, told.versions
    assert re.search(r"^## (?!Unreleased)(\S+)", text("CHANGELOG.md"), re.MULTILINE)[1] == release
    assert set(told.variants) == {"openmp", "report"}  # it inherits cuda and cuda_arch
    assert package.git == ROOT.as_uri()
    options = set(re.findall(r"\"(BELLWETHER_\w+)\"", RECIPE.read_text(encoding="utf-8")))
    cmake = text("CMakeLists.txt") + text("cmake/dependencies.cmake")
    assert options and all(re.search(rf"\({option}\b", cmake) for option in options), options
    presets = set(re.findall(r"preset = \"(\w+)\" if .* else \"(\w+)\"", RECIPE.read_text(encoding="utf-8"))[0])
    assert all(f'"name": "{preset}", "inherits": "base", "configurePreset"' in text("CMakePresets.json") for preset in presets)


if __name__ == "__main__":
    main()
