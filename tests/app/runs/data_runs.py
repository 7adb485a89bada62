# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests runs whose shards differ from those of the checkpoint, or differ between ranks.

    data_runs.py CASE PROGRAM MPIRUN      CASE: vocabularies | other_rows | other_shards_on_a_rank |
                                            variables"""

import shutil

from runs import h5py, main, newest_checkpoint

CHECKSUM = "vocabulary_xxh3"


def edited(runs, name, edit):
    """Returns a copy of all shards, each of them changed."""
    shutil.rmtree(runs.folder / name, ignore_errors=True)
    shutil.copytree(runs.folder / "shards", runs.folder / name)
    for shard in (runs.folder / name).rglob("*.h5"):
        with h5py.File(shard, "r+") as file:
            edit(file)
    return ("--set", f"data.train=[{name}]", "--set", f"data.heldout=[{name}/heldout]")


def vocabularies(runs):
    """On resume, shards of another vocabulary are rejected; shards that do not record theirs are accepted."""
    def record(value):
        def edit(file):
            del file.attrs[CHECKSUM]
            if value:
                file.attrs[CHECKSUM] = value
        return edit

    shard = next((runs.folder / "shards").glob("*.h5"))
    with h5py.File(shard, "r") as file:
        own = file.attrs[CHECKSUM].decode()
    assert f"  vocabulary xxh3     {own}\n" in runs.call([runs.program, "inspect", str(shard)])
    runs.train("run", 1, 16, 2)
    other = edited(runs, "other", record("00000000000000aa"))
    unknown = edited(runs, "unknown", record(None))

    def refused():
        runs.deck("run", 16, 6)
        told = runs.refuse(runs.command("run", 2, "--resume", *other))
        assert (f"data.train=[other]: made with a vocabulary of checksum 00000000000000aa, but the checkpoint was trained on "
                f"one of checksum {own}: the same ids are other tokens; allowed: shards of that vocabulary") in told, told

    refused()
    told = runs.train("run", 1, 16, 4, more=("--resume", *unknown))
    assert "finished at step 4" in told, told
    refused()  # the checkpoint keeps the checksum even if one job's shards record none

    # The data that a checkpoint records.
    replicated = newest_checkpoint(runs.folder / "run") / "replicated.h5"
    with h5py.File(replicated, "r") as file:
        index = [line.decode() for line in file["index"][:]]
    assert {"scalar data/vocabulary_checksum", "scalar data/shards_content", "scalar data/heldout_content"} <= set(index)

    # A set of shards with two vocabularies is rejected, whichever comes first.
    shutil.copytree(runs.folder / "shards", runs.folder / "mixed")
    shutil.copy(next((runs.folder / "other").glob("*.h5")), runs.folder / "mixed/zz.h5")
    told = runs.refuse([runs.program, "check", "run.yaml", "--set", "data.train=[mixed]"])
    assert f"mixed/zz.h5: made with a vocabulary of checksum 00000000000000aa, {runs.folder}" in told, told
    told = runs.refuse([runs.program, "check", "run.yaml", "--set", "data.heldout=[other/heldout]"])
    assert "data.heldout=[other/heldout]: made with a vocabulary of checksum 00000000000000aa, data.train with one" in told, told


def other_rows(runs):
    """Shards of the same names and row counts with other rows cause a warning, because a row may have been
    corrected."""
    def turned(file):
        file["next_sentence_labels"][:] = 1 - file["next_sentence_labels"][:]

    runs.train("run", 1, 16, 2)
    other = edited(runs, "other", turned)
    told = runs.train("run", 1, 16, 4, more=("--resume", *other))
    assert "warning: data.train: the shards have the names and row counts of the checkpoint's, but other rows" in told, told
    assert "warning: data.heldout: the rows differ from those when the checkpoint was written" in told, told
    told = runs.train("run", 1, 16, 6, more=("--resume", *other))
    assert "other rows" not in told and "the rows differ" not in told, told


def other_shards_on_a_rank(runs):
    """Folders of the same name with different shards on two nodes are rejected: ranks would use different batches."""
    for rank in "01":
        shutil.copytree(runs.folder / "shards", runs.folder / rank / "shards")
    runs.deck("run", 16, 2)
    data = ("--set", "data.train=[/proc/self/cwd/shards]", "--set", "data.heldout=[/proc/self/cwd/shards/heldout]")

    def command():
        words = runs.launch(1)[:-2]
        for rank in "01":
            words += [*([":"] if rank == "1" else []), "-np", "1", "-wdir", str(runs.folder / rank), runs.program, "train",
                      str(runs.folder / "run.yaml"), "--log", "lines", "--set", f"run.directory={runs.folder}/run", *data]
        return words

    held_out = next((runs.folder / "1/shards/heldout").glob("*.h5"))
    shutil.copy(held_out, runs.folder / "more.h5")
    with h5py.File(held_out, "r+") as file:
        file["next_sentence_labels"][0] = 1 - file["next_sentence_labels"][0]
    told = runs.refuse(command())
    assert "error: rank 1: --set data.heldout=[/proc/self/cwd/shards/heldout]: " in told, told
    assert " on rank 0; allowed: the same shards on every rank" in told and "data.train" not in told, told
    assert not (runs.folder / "run").exists()
    shutil.move(runs.folder / "more.h5", held_out)
    assert "finished at step 2" in runs.call(command())


def variables(runs):
    """Environment variables that should be numbers but are not are rejected."""
    runs.deck("run", 16, 2)
    for value in ("", "soon", "-1", "0", "nan", "inf", "1e9", "10 s", "1,000", "0x10"):
        told = runs.refuse([runs.program, "check", "run.yaml"], BELLWETHER_START_DEADLINE=value)
        assert f"BELLWETHER_START_DEADLINE: '{value}'; allowed: seconds, above 0 and at most 1e8; correct or unset this" in told, told
    told = runs.refuse([runs.program, "check", "run.yaml"], BELLWETHER_START_DEADLINE="1" + 5000 * "0")
    assert f"BELLWETHER_START_DEADLINE: '1{39 * '0'}...'; allowed: " in told and len(told) < 200, told


main({"variables": variables, "vocabularies": vocabularies, "other_rows": other_rows, "other_shards_on_a_rank": other_shards_on_a_rank})
