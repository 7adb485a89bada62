# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests invalid files in every place where the program reads one. Each ends in an error without delay.

    hostile_runs.py CASE PROGRAM MPIRUN      CASE: pipes | links | locked | number_types |
    damaged_statistics"""

import os
import re
import shutil
import sys

from runs import h5py, main, np

WORDS = ("input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels")


def pipes(runs):
    """A pipe without a writer would block a reader forever."""
    runs.train("run", 1, 16, 2, every=1)
    pipe = runs.folder / "pipe"
    os.mkfifo(pipe)
    program, step = runs.program, "checkpoints/step_2/replicated.h5"

    def refused(command, what="is a pipe, a device or a socket; allowed: a file"):
        told = runs.refuse([program] + command)
        assert what in told, (command, told)

    refused(["check", "pipe"])
    refused(["check", "/dev/zero"])
    refused(["prepare", "pipe", "--vocab", "vocab.txt", "--out", "again"])
    refused(["prepare", "text.txt", "--vocab", "pipe", "--out", "again"])
    refused(["check", "run.yaml", "--set", "data.train=pipe"], "is neither file nor folder")
    (runs.folder / "many").mkdir()
    (runs.folder / "many/part.h5").symlink_to(pipe)
    refused(["check", "run.yaml", "--set", "data.train=many"])
    refused(["inspect", "many"])
    for place, what in (("statistics.h5", None), ("starts.txt", "starts.txt: cannot be read: not a file"),
                        (step, "none is usable"), ("statistics/segment_000000.h5", "segment_000000.h5")):
        shutil.copytree(runs.folder / "run", runs.folder / "other")
        shutil.rmtree(runs.folder / "other/checkpoints/step_1")
        (runs.folder / "other" / place).unlink()
        os.mkfifo(runs.folder / "other" / place)
        refused(["train", "run.yaml", "--set", "run.directory=other", "--set", "schedule.steps=4", "--resume"],
                *[what] if what else [])
        shutil.rmtree(runs.folder / "other")
    runs.deck("run", 16, 4)
    resumed = ["train", "run.yaml", "--resume"]
    (runs.folder / "run/statistics.h5").write_bytes(b"")
    refused(resumed, "remove it, and it is created again from the segments beside it")
    (runs.folder / "run/statistics.h5").unlink()
    runs.call([program] + resumed)


def links(runs):
    """Links, external storage and groups that contain themselves, inside HDF5 files."""
    shard = next((runs.folder / "shards").rglob("*.h5"))
    other = runs.folder / "other.h5"
    os.mkfifo(runs.folder / "pipe")

    def edited(edit):
        shutil.copy(shard, other)
        with h5py.File(other, "r+") as file:
            edit(file)

    def refused(edit, what):
        edited(edit)
        runs.deck("run", 16, 2)
        for command in (["inspect", "other.h5"], ["check", "run.yaml", "--set", "data.train=other.h5"]):
            told = runs.refuse([runs.program] + command)
            assert what in told, (command, told)

    def linked(link):
        def edit(file):
            del file["input_ids"]
            file["input_ids"] = link
        return edit

    refused(linked(h5py.ExternalLink(str(runs.folder / "pipe"), "/x")), "'input_ids': is a link to another place")
    refused(linked(h5py.SoftLink("/input_ids")), "'input_ids': is a link to another place")

    def virtual(file):
        for name in WORDS:
            shape, kind = file[name].shape, file[name].dtype
            file.move(name, "own_" + name)
            layout = h5py.VirtualLayout((2**36,) + shape[1:], kind)
            layout[:shape[0]] = h5py.VirtualSource(".", "own_" + name, shape)
            file.create_virtual_dataset(name, layout)

    refused(virtual, "'input_ids': shows values of other files; allowed: values in the file itself")

    def stored_elsewhere(file):
        shape = file["input_ids"].shape
        del file["input_ids"]
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_external(str(runs.folder / "pipe").encode(), 0, 4 * shape[0] * shape[1])
        h5py.h5d.create(file.id, b"input_ids", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(shape), properties)

    refused(stored_elsewhere, "'input_ids': keeps its values in other files; allowed: values in the file itself")

    with h5py.File(other, "w") as file:
        group = file.create_group("one/two")
        group["back"], group["root"] = file["one"], file["/"]
        group.attrs["note"] = "of variable length"
        for depth in range(2000):
            group = group.create_group(f"g{depth}")
    told = runs.call([runs.program, "inspect", "other.h5"])
    for line in ("/one/two/back  a group shown before", "/one/two/root  a group shown before", "  deeper than shown",
                 "/one/two/@note = (text of variable length)"):
        assert line in told, (line, told)
    in_the_way(runs)


def in_the_way(runs):
    """Links and pipes in a run directory, under the names of files that the program writes."""
    runs.train("made", 1, 8, 4, every=2)
    victim = runs.folder / "victim"
    for number, name in enumerate(("starts.txt", "deck.resolved.yaml", "statistics.h5", "statistics/segment_000000.h5")):
        for kind in ("link", "pipe"):
            run = runs.folder / f"{kind}_{number}"
            shutil.copytree(runs.folder / "made", run)
            victim.write_text("precious")
            if kind == "link":
                (run / f"{name}.part").symlink_to(victim)
            else:
                os.mkfifo(run / f"{name}.part")
            runs.train(run.name, 1, 8, 6, every=2, more=("--resume",))
            assert victim.read_text() == "precious" and not (run / f"{name}.part").exists(), (kind, name)
            assert (run / "checkpoints/step_6/manifest").exists() and len(runs.table(run.name)) == 6


def locked(runs):
    """HDF5 files that another program has open for writing, and files that cannot be opened. Each error states the
    cause."""
    runs.train("run", 1, 16, 2, every=1)
    shard = next((runs.folder / "shards").glob("*.h5"))
    check, step = ["check", "run.yaml"], runs.folder / "run/checkpoints/step_2"
    resume = ["train", "run.yaml", "--resume", "--set", "schedule.steps=4"]
    holder = (rf"is locked: another program has it open for writing(, process {os.getpid()} \(\S+\))?; close it there, or wait\. "
              r"If no program writes to it, HDF5_USE_FILE_LOCKING=FALSE")

    def refused(command, file, what):
        told = runs.refuse([runs.program] + command, BELLWETHER_PYTHON=sys.executable)
        assert re.search(rf"error: (\S+ )?.*{file.name}: {what}", told) and len(told.splitlines()) == 1, (command, told)

    for file, commands in ((shard, (check, ["train", "run.yaml", "--set", "run.directory=other"], ["inspect", str(shard)])),
                           (runs.folder / "run/statistics.h5", (resume, ["inspect", "run/statistics.h5"], ["report", "run"])),
                           (runs.folder / "run/statistics/segment_000000.h5", (resume, ["inspect", "run/statistics.h5"])),
                           (step / "replicated.h5", (resume, ["inspect", str(step)]))):
        with h5py.File(file, "r+"):
            for command in commands:
                refused(command, file, holder)
    assert not (runs.folder / "other").exists()
    with h5py.File(shard, "r+") as file:
        file.flush()
        runs.call([runs.program] + check, HDF5_USE_FILE_LOCKING="FALSE")
    whole = shard.read_bytes()
    for content, what in ((b"", "is empty; the program that writes it has not finished, or has failed"), (b"text " * 500, "is not an HDF5 file"),
                          (whole[:-100], f"is cut short: it has {len(whole) - 100} of {len(whole)} bytes; wait until"),
                          (whole[:96] + b"\xff" + whole[97:], "cannot be opened as HDF5: bad object header version number; "
                           "the file is incomplete or damaged: its writer has probably not finished. Make it or copy it again")):
        shard.write_bytes(content)
        for command in (check, ["inspect", str(shard)]):
            refused(command, shard, what)
    shard.write_bytes(whole)
    of_macos = shard.parent / f"._{shard.name}"
    for content in (b"", b"\0\5\x16\7" + bytes(4092)):
        of_macos.write_bytes(content)
        for command in (check, ["inspect", str(of_macos)]):
            refused(command, of_macos, f"is a resource file of macOS that belongs to '{shard.name}' and contains no HDF5; remove it")
    of_macos.unlink()
    with h5py.File(shard, "w", libver="latest") as file:
        file["x"] = 1
        file.flush()
        shutil.copy(shard, runs.folder / "open.h5")
    refused(["inspect", "open.h5"], runs.folder / "open.h5", "was not closed by the program that wrote it.*h5clear -s open.h5")
    shard.write_bytes(whole)
    if os.geteuid() != 0:  # root ignores permissions
        shard.chmod(0)
        refused(check, shard, "cannot be read: Permission denied; needed: permission to read it")


def damaged_statistics(runs):
    """A byte of the record changes where HDF5 trusts the file. HDF5 then ended the program with "buffer overflow detected"."""
    runs.train("run", 1, 16, 4)
    resume = ["train", "run.yaml", "--resume", "--set", "schedule.steps=6"]
    shown = runs.folder / "run/statistics.h5"
    whole = shown.read_bytes()
    layouts = whole.index(b"GCOL")  # of the virtual data sets
    damaged = "run/statistics.h5: damaged: its bytes do not match the checksum at its end; remove it, and "
    for at in range(layouts, layouts + 1000, 125):
        shown.write_bytes(whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:])
        for command in (["inspect", "run/statistics.h5"], ["report", "run"]):
            told = runs.refuse([runs.program] + command, BELLWETHER_PYTHON=sys.executable)
            assert damaged + "`bellwether train --resume` creates it again" in told and told.count("\n") == 0, (at, told)
    shown.write_bytes(bytes(len(whole)))
    for command in (["inspect", "run/statistics.h5"], ["report", "run"]):
        told = runs.refuse([runs.program] + command, BELLWETHER_PYTHON=sys.executable)
        assert "run/statistics.h5: is not an HDF5 file; remove it, and `bellwether train --resume` creates it again" in told, told
    shown.write_bytes(whole[:layouts] + bytes([whole[layouts] ^ 0xff]) + whole[layouts + 1:])
    told = runs.refuse([runs.program] + resume)
    assert damaged + "it is created again from the segments beside it" in told, told
    shown.unlink()
    runs.call([runs.program] + resume)
    assert runs.table("run")["step"].tolist() == list(range(1, 7))
    segment = runs.folder / "run/statistics/segment_000000.h5"
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 0xff
    segment.write_bytes(content)
    for command in (["inspect", "run/statistics.h5"], ["inspect", str(segment)], ["report", "run"]):
        told = runs.refuse([runs.program] + command, BELLWETHER_PYTHON=sys.executable)
        assert "segment_000000.h5: damaged: its bytes do not match the checksum at its end; restore it from a copy" in told, told


def number_types(runs):
    """Shards of other programs are read alike, with booleans, enumerations and integers of any width and byte order."""
    source = next((runs.folder / "shards").glob("*.h5"))
    other = runs.folder / "other.h5"
    with h5py.File(source, "r") as file:
        values = {name: file[name][:8] for name in WORDS}
    values["masked_lm_positions"][:, 0] = 1
    values["masked_lm_ids"][:, 0] = 7

    def written(kinds):
        with h5py.File(other, "w") as file:
            for name, data in values.items():
                kind = kinds.get(name, "i4")
                if kind != "bits":
                    file.create_dataset(name, data=data.astype(kind))
                    continue
                space = h5py.h5s.create_simple(data.shape)
                stored = h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_B8LE, space)
                stored.write(space, space, data.astype("u1"), mtype=h5py.h5t.NATIVE_B8)
        return runs.call([runs.program, "inspect", "other.h5", "--rows", "8"])

    flags = ("input_mask", "segment_ids", "next_sentence_labels")
    plain = written({}).split("\n", 2)[2]  # without the files' sizes
    enumeration = h5py.enum_dtype({"A": 0, "B": 1}, basetype=">i2")
    for kind in ("?", enumeration, "bits", "u1", ">i8", "<u2", ">u4", "i8"):
        assert written(dict.fromkeys(flags, kind)).split("\n", 2)[2] == plain, kind
    for kind in (">i2", "<u2", ">u8", "i8"):
        assert written(dict.fromkeys(("input_ids", "masked_lm_ids", "masked_lm_positions"), kind)).split("\n", 2)[2] == plain, kind
    runs.deck("run", 8, 2)
    written(dict.fromkeys(flags, "?"))
    runs.call([runs.program, "train", "run.yaml", "--set", "data.train=other.h5", "--set", "data.heldout=[]",
               "--set", "data.dynamic_masking=false"])
    swapped = h5py.enum_dtype({"FALSE": 1, "TRUE": 0}, basetype="i1")
    for kind, what in ((swapped, "holds enumerations of FALSE = 1, TRUE = 0; allowed: integers"), ("f4", "holds float32; allowed: integers")):
        with h5py.File(other, "w") as file:
            for name, data in values.items():
                file.create_dataset(name, data=data.astype("i1" if kind is swapped else kind) if name == "input_mask" else data,
                                    dtype=kind if name == "input_mask" else None)
        assert f"'input_mask': {what}" in runs.refuse([runs.program, "inspect", "other.h5"])
    with h5py.File(other, "w") as file:
        file.attrs["flag"], file["flags"] = np.True_, np.array([True, False])
    told = runs.call([runs.program, "inspect", "other.h5"])
    assert "/@flag = TRUE" in told and "/flags  int8 (2)" in told, told


if __name__ == "__main__":
    main(globals())
