# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the files for GitHub, GitLab and pre-commit: they parse, run .ci/run in Debian 12, and name files that exist.

Without PyYAML, exits with 4, ctest's code for skipped.
"""
import os
import re
import sys
import unittest

import source_tree as tree

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

RUN = ".ci/run"
IMAGE = "debian:12"


def parsed(path):
    return yaml.safe_load(tree.text(path))


def words(value):
    """Returns every string of a parsed document, split at white space."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        return [word for entry in value for word in words(entry)]
    return value.split() if isinstance(value, str) else []


def results_of_run():
    """Returns the result files that .ci/run writes on a machine without a GPU."""
    return re.search(r"^results=\(([^)]*)\)", tree.text(RUN), flags=re.M).group(1).split()


class Files(unittest.TestCase):
    def assert_executable(self, path):
        self.assertTrue(os.access(os.path.join(tree.ROOT, path), os.X_OK), f"{path} is missing or not executable")

    def assert_results(self, document, path):
        for name in results_of_run():
            self.assertIn(name, words(document), f"{path} does not keep {name}")

    def test_pre_commit(self):
        hooks = [hook for repo in parsed(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
        scripts = {"tests/architecture/check_format", "tests/architecture/check_sources.py"}
        self.assertEqual({word for hook in hooks for word in hook["entry"].split() if "/" in word}, scripts)
        for hook in hooks:
            program = hook["entry"].split()[0]
            if "/" in program:
                self.assert_executable(program)
            self.assertTrue(any(re.search(hook["files"], path) for path in tree.files()), f"{hook['id']} is for no file")
            self.assertTrue({"id", "name", "language"} <= hook.keys())
        for path in scripts:
            self.assertTrue(os.path.isfile(os.path.join(tree.ROOT, path)), f"{path} is missing")

    def test_github(self):
        path = ".github/workflows/ci.yml"
        document = parsed(path)
        self.assertTrue({"push", "pull_request"} <= document["on"].keys())
        jobs = [job for job in document["jobs"].values() if any(step.get("run") == RUN for step in job["steps"])]
        self.assertTrue(jobs, f"{path} does not run {RUN}")
        self.assertEqual({job["container"]["image"] for job in jobs}, {IMAGE})
        self.assert_results(jobs, path)

    def test_gitlab(self):
        path = ".gitlab-ci.yml"
        jobs = [job for job in parsed(path).values() if RUN in job.get("script", [])]
        self.assertTrue(jobs, f"{path} does not run {RUN}")
        self.assertEqual({job["image"] for job in jobs}, {IMAGE})
        self.assert_results(jobs, path)

    def test_run_is_a_program(self):
        self.assert_executable(RUN)


if __name__ == "__main__":
    unittest.main()
