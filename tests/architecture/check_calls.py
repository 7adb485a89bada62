# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no loop over elements calls the C library. Usage: check_calls.py NM ARCHIVE...

A call prevents vectorisation: fmaxf() instead of a comparison once made every exponential of the model scalar and five
times slower, and no test of results can notice. Only the float functions count: finite differences use the double ones.
"""
import subprocess
import sys

FORBIDDEN = {name + "f" for name in ("fmax", "fmin", "exp", "exp2", "expm1", "erf", "erfc", "tanh", "pow", "sqrt",
                                     "floor", "ceil", "rint", "nearbyint", "round", "lrint", "fabs", "copysign")}


def calls(nm, archive):
    """Yields (object file, name) of every undefined symbol."""
    member = archive
    for line in subprocess.run([nm, "-u", archive], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.split():
            yield member, line.split()[-1]


def main():
    nm, archives = sys.argv[1], sys.argv[2:]
    seen = [call for archive in archives for call in calls(nm, archive)]
    if not any(name == "log" or name == "logf" for _, name in seen):
        sys.exit("no call of log() found, which the loss makes once a row: is this the right archive?")
    faults = [f"{member} calls {name}(): core/simd/math.hpp has what vectorises" for member, name in seen if name in FORBIDDEN]
    print("\n".join(faults) or f"{len(seen)} undefined symbols, none of the float functions of the C library")
    sys.exit(bool(faults))


main()
