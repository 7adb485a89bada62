# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums ctest's JUnit files into one line: `N passed, N failed, N skipped`.

    count_results.py [--skipped N] FILE...      N: number of stages that were skipped, to add

Prints the name and the last output lines of each failed test.

A missing file is a run that did not take place: the script names it and counts one failure. A test whose program or
fixture is missing also counts as failed. Only a test that reports itself as skipped counts as skipped.
"""
import argparse
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


LINES_SHOWN = 40


def count(path):
    """Returns (passed, failed, skipped) of one file."""
    if not os.path.exists(path):
        print(f"no results in {path}: these tests did not run")
        return 0, 1, 0
    with open(path, encoding="utf-8", errors="replace") as file:
        # A failing test may have printed bytes that XML does not allow.
        text = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", file.read())
    passed = failed = skipped = 0
    for case in ElementTree.fromstring(text.split("?>", 1)[1]).iter("testcase"):
        reason = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
        elif case.get("status") == "notrun" and reason is not None and reason.get("message", "").startswith("SKIP_"):
            skipped += 1
        elif case.get("status") == "disabled":
            skipped += 1
        else:
            failed += 1
            print(f"failed: {case.get('name')} ({path})")
            for line in (case.findtext("system-out") or "").splitlines()[-LINES_SHOWN:]:
                print(f"    {line}")
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skipped", type=int, default=0)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    sums = [sum(column) for column in zip((0, 0, options.skipped), *(count(path) for path in options.files))]
    print("{} passed, {} failed, {} skipped".format(*sums))
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
