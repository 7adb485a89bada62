#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests which runs study.py accepts as finished and which lines it rejects, and the conclusions of compare.py. Trains nothing."""

import json
import pathlib
import sys
import tempfile

try:
    import h5py
    import yaml  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

from compare import table
from study import Plan, fingerprint, job_of

DECK = "run: {seed: 1}\ndata: {window: 64, train: [a]}\nmodel: {hidden: 32}\noptimizer: {method: adamw, epsilon: 1.0e-8}\n"
PLAN = """about: a trial
deck: deck.yaml
ranks: 2
seeds: [1, 2, 3]
settings: {optimizer: {beta2: 0.95}}
variants:
  lamb: {ranks: [1, 2], optimizer: {method: lamb}}
  onebit: {optimizer: {method: onebit_lamb}}
  broken: {optimizer: {method: onebit_lamb, lr: 7}}
pairs: [[lamb, onebit]]
contrasts: [[lamb, broken]]
"""


class Folder:
    """A folder with a plan, its deck and the lines of finished runs."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        (self.path / "deck.yaml").write_text(DECK)
        (self.path / "plan.yaml").write_text(PLAN)

    def line(self, variant, seed, loss, **changed):
        plan = self.plan()
        deck = {"data.window": "64", "model.hidden": "32", "optimizer.epsilon": "1e-08", "optimizer.clip": "1"}
        line = {"variant": variant, "seed": seed, "ranks": plan.ranks_of(variant), "settings": plan.settings(variant, seed),
                "deck": deck | plan.settings(variant, seed), "shards": "s", "held_out": [[9, loss]], "frozen_after": None}
        line["deck"].pop("run.seed")
        line["deck"] |= changed.pop("deck", {})
        plan.keep(line | changed)

    def plan(self):
        return Plan(self.path / "plan.yaml")

    def fault(self):
        try:
            self.plan().results()
        except SystemExit as error:
            return str(error)
        return ""

    def forget(self):
        (self.path / "plan.jsonl").unlink()


def fingerprints():
    """A fingerprint depends on the contents of shards, not on how HDF5 wrote them."""
    def shards(value, order, rows=2, where="train.h5"):
        with tempfile.TemporaryDirectory() as folder:
            with h5py.File(pathlib.Path(folder) / where, "w") as file:
                file.attrs["mask_id"] = 4
                for name in order:
                    file.create_dataset(name, data=[[value, 7]] * rows, chunks=(rows, 2), track_times=True)
            return fingerprint(pathlib.Path(folder))

    one = shards(1, ("input_ids", "segment_ids"))
    assert one == shards(1, ("segment_ids", "input_ids"))
    others = {shards(2, ("input_ids", "segment_ids")), shards(1, ("input_ids", "input_mask")), shards(1, ("input_ids",)),
              shards(1, ("input_ids", "segment_ids"), rows=3), shards(1, ("input_ids", "segment_ids"), where="other.h5")}
    assert len(others) == 5 and one not in others


def main():
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        for seed in (1, 2, 3):
            folder.line("lamb", seed, 6.0 + seed / 100)
            folder.line("onebit", seed, 6.01 + seed / 100)
            folder.line("broken", seed, 6.5 + seed / 50)
        assert folder.fault() == "" and len(folder.plan().results()) == 9
        rows = table(folder.plan(), folder.plan().results()).splitlines()
        assert rows[2].endswith("| ? | within 0.5 % |") and rows[3].endswith("| ? | worse |"), rows
        folder.forget()
        for variant, program in (("lamb", "p 1, abc"), ("onebit", "p 1, abc"), ("broken", "p 1, def")):
            folder.line(variant, 1, 6.0, program=program)
        rows = table(folder.plan(), folder.plan().results()).splitlines()
        assert rows[2].endswith("| 1 | one seed |") and rows[3].endswith("| 2 | one seed |"), rows

        # After a crash in the middle of a line, the run counts as unfinished and the next line is complete.
        folder.forget()
        for variant in ("lamb", "onebit", "broken"):
            for seed in (1, 2, 3):
                folder.line(variant, seed, 6.0)
        lines = folder.path / "plan.jsonl"
        lines.write_text(lines.read_text()[:-20])
        assert folder.fault() == "" and ("broken", 3) not in folder.plan().results()
        folder.line("broken", 3, 6.56)
        assert len(folder.plan().results()) == 9

        for edited, before, after, fault in (("deck.yaml", "hidden: 32", "hidden: 64", "other settings than"),
                                             ("plan.yaml", "beta2: 0.95", "beta2: 0.5", "optimizer.beta2"),
                                             ("plan.yaml", "ranks: 2", "ranks: 4", "2 ranks"),
                                             ("plan.yaml", "ranks: [1, 2]", "ranks: [1, 3]", "[1, 2] ranks")):
            file = folder.path / edited
            text = file.read_text()
            file.write_text(text.replace(before, after))
            assert fault in folder.fault(), (edited, folder.fault())
            file.write_text(text)
        assert folder.fault() == ""

        # Defaults and shards may not change between two runs, of one variant or of two.
        for changed, fault in (({"deck": {"optimizer.clip": "2"}}, "other optimizer.clip than"),
                               ({"shards": "t"}, "other shards than")):
            for variant in ("lamb", "onebit"):
                folder.forget()
                folder.line("lamb", 1, 6.0)
                folder.line(variant, 2, 6.0, **json.loads(json.dumps(changed)))
                assert fault in folder.fault(), (variant, folder.fault())
        folder.forget()
        folder.line("lamb", 1, 6.0)
        folder.line("broken", 1, 6.0, deck={"optimizer.lr": "7"})
        assert folder.fault() == "", "a key that a variant sets is its own"
        # Three jobs of 30 steps each continue from the newest checkpoint.
        for step, job in ((0, 0), (29, 0), (30, 1), (59, 1), (60, 2), (90, 2)):
            (folder.path / f"checkpoints/step_{step}").mkdir(parents=True)
            (folder.path / f"checkpoints/step_{step + 40}.part").mkdir()
            assert job_of(folder.path, 90, 3) == job, step
        assert job_of(folder.path / "nowhere", 90, 3) == 0
    fingerprints()
    print("what is finished counts, what is another experiment is refused")


if __name__ == "__main__":
    main()
