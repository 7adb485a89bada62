# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the script that writes a golden file and compares its output with the checked-in file.

    check_golden.py SCRIPT FILE       both in this folder

Fails unless both are equal to the byte: the script or the file was changed without the other. Exits with 4, ctest's
code for skipped, without NumPy, or if the only differences are of one in the last of ten digits. Those occur on other
processors, because NumPy has special sines for some.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROUNDING = 1.01e-9  # at most one in the last of ten digits


def differences(new, old, path=""):
    """Yields (path, relative difference) of all differing numbers; infinite if something other than a float differs."""
    if isinstance(new, float) and isinstance(old, float):
        if new != old:
            yield path, abs(new - old) / max(abs(new), abs(old))
    elif type(new) is not type(old) or isinstance(new, (dict, list)) and len(new) != len(old):
        yield path, float("inf")
    elif isinstance(new, dict):
        for key in new.keys() | old.keys():
            if key in new and key in old:
                yield from differences(new[key], old[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}", float("inf")
    elif isinstance(new, list):
        for k, (a, b) in enumerate(zip(new, old)):
            yield from differences(a, b, f"{path}/{k}")
    elif new != old:
        yield path, float("inf")


def main(script, name):
    try:
        import numpy
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 4
    here = pathlib.Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", here / script, folder], check=True)
        written = (pathlib.Path(folder) / name).read_bytes()
    kept = (here / name).read_bytes()
    if written == kept:
        print(f"{name}: {len(kept)} bytes, all equal")
        return 0
    found = sorted(differences(json.loads(written), json.loads(kept)), key=lambda entry: -entry[1])
    for path, difference in found[:5]:
        print(f"{name}{path} differs by {difference:.1e}")
    if found and found[0][1] <= ROUNDING:
        print(f"skipped: {len(found)} numbers differ in their last digit; another processor or another NumPy may cause "
              f"this (here {numpy.__version__})")
        return 4
    print(f"{name} differs from the output of {script}: run {script} and check what changed")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
