# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the program `replay` on several ranks: it reports each fault once, in one line, and exits with code 2.

    python3 replay_runs.py REPLAY MPIEXEC
"""
import json
import pathlib
import subprocess
import sys
import tempfile

STEP = [[[0.1, 0.2, 0.3]], [[0.3, 0.2, -0.1]]]
GOOD = dict(optimizer=dict(name="onebit_lamb", freeze=dict(step=2), scale_groups=1),
            tensors=[dict(name="a", initial=[1.0, 2.0, 3.0])], learning_rates=[0.01] * 4, gradients=[STEP] * 4)


def main(program, launcher):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(text, ranks=2, result="out.json"):
            (folder / "in.json").write_text(text)
            return subprocess.run([launcher, "--oversubscribe", "--bind-to", "none", "-np", str(ranks), program, "in.json",
                                   result], cwd=folder, capture_output=True, text=True, timeout=300, check=False)

        def refused(text, fault, **how):
            done = run(text, **how)
            told = [line for line in done.stderr.splitlines() if "error" in line or "exception" in line]
            assert done.returncode == 2 and told == [f"error: {fault}"], (done.returncode, done.stderr)
            assert not (folder / "out.json").exists()

        def changed(key, value, *path):
            document = json.loads(json.dumps(GOOD))
            at = document
            for step in path:
                at = at[step]
            at[key] = value
            return json.dumps(document)

        refused(changed("freeze", dict(stp=3), "optimizer"),
                "in.json: optimizer.freeze.stp: unknown key (did you mean 'step'?); one of step, latest")
        refused(changed("learning_rates", [0.01]),
                "in.json: learning_rates: a list of 1; allowed: a list of 4: one for each step of gradients")
        # A fault in the gradients of rank 1.
        refused(changed(1, [[0.1, 0.2]], "gradients", 2),
                "in.json: gradients[2][1][0]: a list of 2; allowed: a list of 3: elements of tensor \"a\"")
        refused(json.dumps(GOOD), "in.json: gradients[0]: 2 ranks; allowed: 3, the number of ranks of this run", ranks=3)
        refused(json.dumps(GOOD), "in.json: gradients[0]: 2 ranks; allowed: 1, the number of ranks of this run", ranks=1)
        refused(json.dumps(GOOD), "nowhere/out.json: cannot be written", result="nowhere/out.json")

        def result(text):
            done = run(text)
            assert done.returncode == 0, done.stderr
            return json.loads((folder / "out.json").read_text())

        whole = result(json.dumps(GOOD))
        assert [step["phase"] for step in whole["steps"]] == ["warmup", "warmup", "compressed", "compressed"]
        forgets = result(changed("error_feedback", False, "optimizer"))
        assert forgets["steps"][:3] == whole["steps"][:3]
        assert forgets["final"]["parameters"] != whole["final"]["parameters"]
        half = result(changed("dense_wire", "bf16", "optimizer"))
        assert 2 * half["steps"][0]["bytes_sent"][0] < 1.5 * whole["steps"][0]["bytes_sent"][0]
        early = result(changed("freeze", dict(latest=0.1), "optimizer"))
        assert early["steps"] == whole["steps"]  # at least two steps
        late = result(changed("freeze", dict(latest=1), "optimizer"))
        assert [step["phase"] for step in late["steps"]] == ["warmup"] * 4


if __name__ == "__main__":
    main(*sys.argv[1:])
