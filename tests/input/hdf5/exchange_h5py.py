# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counterpart of test_h5py.cpp: `read FOLDER` checks files of Bellwether, `write FOLDER` writes files for it to read."""
import os
import sys

import h5py
import numpy as np


def read_as_nvidia(path, row):
    """Processes one row of a shard like the data loader of NVIDIA's PyTorch BERT."""
    keys = ["input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels"]
    with h5py.File(path, "r") as file:
        inputs = [np.asarray(file[key][:]) for key in keys]
    ids, mask, segments, positions, labels = (values[row].astype(np.int64) for values in inputs[:5])
    following = np.asarray(inputs[5][row].astype(np.int64))
    masked = np.full(ids.shape, -1, dtype=np.int64)
    empty = np.nonzero(positions == 0)[0]
    count = int(empty[0]) if len(empty) else len(positions)
    masked[positions[:count]] = labels[:count]
    return ids, segments, mask, masked, following


def read(folder):
    for name, static in (("static.h5", True), ("dynamic.h5", False)):
        path = os.path.join(folder, name)
        with h5py.File(path, "r") as file:
            assert file.attrs["format"] == b"bellwether shard" and file.attrs["format_version"].decode() == "1.0"
            assert file.attrs["masking"] == (b"static" if static else b"dynamic")
            assert file.attrs["vocabulary_size"] == 100 and file.attrs["mask_id"] == 3
            assert file["input_ids"].shape == (21, 16) and file["input_ids"].dtype == np.int32
            assert file["input_ids"].compression == "gzip" and file["input_ids"].shuffle
            assert file["input_mask"].dtype == np.int8 and file["segment_ids"].dtype == np.int8
            assert file["masked_lm_ids"].shape == (21, 3) and file["masked_lm_positions"].dtype == np.int32
            assert file["next_sentence_labels"].shape == (21,)
            assert list(file["next_sentence_labels"][:4]) == [1, 0, 0, 1]
        for row in range(21):
            ids, segments, mask, masked, following = read_as_nvidia(path, row)
            length = int(mask.sum())
            assert list(mask) == [1] * length + [0] * (16 - length)
            assert ids[0] == 1 and ids[length - 1] == 2 and not ids[length:].any()
            assert following == (row % 3 == 0)
            where = np.nonzero(masked >= 0)[0]
            assert len(where) == (1 + row % 3 if static else 0), (row, where)
            original = np.where(masked >= 0, masked, ids)
            for s in range(1, length - 1):
                assert original[s] in (2, 10 + (row * 31 + s) % 90)
            assert (ids[where] == 3).all()
    with h5py.File(os.path.join(folder, "statistics.h5"), "r") as file:
        steps = file["steps"][:]
        assert steps.dtype.names == ("step", "loss") and list(steps["step"]) == [1, 2, 3, 4]
        assert list(steps["loss"]) == [0.5, 1.5, 2.5, 3.5] and steps["step"].dtype == np.int64
        assert list(file["layers/name"].asstr()[:]) == ["pooler", "Übergröße 語"]
        assert file["layers/ratio"][:].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
        assert file["layers"].attrs["rate"] == 0.25


def hostile(folder):
    """Writes files of a few kilobytes that declare far more data."""
    def shard(name, rows, chunk):
        with h5py.File(os.path.join(folder, name), "w") as file:
            for key, width in (("input_ids", 16), ("input_mask", 16), ("segment_ids", 16), ("masked_lm_positions", 3), ("masked_lm_ids", 3)):
                file.create_dataset(key, (rows, width), "i4", chunks=(chunk, width) if chunk else None,
                                    maxshape=(None, width) if chunk else None)
            file.create_dataset("next_sentence_labels", (rows,), "i1")

    shard("rows.h5", 2**50, 8)
    shard("unwritten.h5", 2**40, None)
    shard("chunk.h5", 100, 2**25)
    with h5py.File(os.path.join(folder, "texts.h5"), "w") as file:
        file.create_dataset("variable", (2**45,), h5py.string_dtype(), chunks=(8,))
        file.create_dataset("fixed", (2**45,), "S100", chunks=(8,))
        file.create_dataset("none", (0,), h5py.string_dtype())


def write(folder):
    with h5py.File(os.path.join(folder, "foreign.hdf5"), "w") as file:
        ids = np.array([[1, 11, 12, 2, 0, 0], [1, 3, 14, 15, 16, 2]] * 50, dtype="i4")
        file.create_dataset("input_ids", data=ids, dtype="i4", compression="gzip")
        mask = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]] * 50)
        file.create_dataset("input_mask", data=mask, dtype="i1", compression="gzip")
        segments = np.array([[0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1]] * 50)
        file.create_dataset("segment_ids", data=segments, dtype=">i8", compression="gzip")
        file.create_dataset("masked_lm_positions", data=np.array([[2, 0], [1, 4]] * 50), dtype="i4", compression="gzip")
        file.create_dataset("masked_lm_ids", data=np.array([[12, 0], [13, 16]] * 50), dtype="u2", compression="gzip")
        file.create_dataset("next_sentence_labels", data=np.array([0, 1] * 50), dtype="i1", compression="gzip")
    with h5py.File(os.path.join(folder, "other.h5"), "w") as file:
        file.attrs["text"] = "naïve"
        file.attrs["fixed"] = np.bytes_("plain")
        file.attrs["count"] = np.int16(-7)
        file.attrs["rate"] = np.float32(0.5)
        file["names"] = np.array(["a", "größer"], dtype=h5py.string_dtype())
        file["fixed_names"] = np.array([b"ab", b"cdef"])
        file["table"] = np.array([(1, 0.5), (2, 1.5)], dtype=[("step", "<u4"), ("loss", ">f4")])


def lzf(folder):
    with h5py.File(os.path.join(folder, "lzf.h5"), "w") as file:
        for name, width, kind in (("input_ids", 64, "i4"), ("input_mask", 64, "i1"), ("segment_ids", 64, "i1"),
                                  ("masked_lm_positions", 8, "i4"), ("masked_lm_ids", 8, "i4")):
            file.create_dataset(name, data=np.ones((100, width)), dtype=kind, compression="lzf")
        file.create_dataset("next_sentence_labels", data=np.zeros(100), dtype="i1")


def types(folder):
    """Writes shards with one attribute `format`, or one data set `segment_ids`, of a type that shards never hold."""
    path = os.path.join(folder, "types.h5")
    with h5py.File(path, "w") as file:
        for name, width in (("input_ids", 6), ("input_mask", 6), ("masked_lm_positions", 2), ("masked_lm_ids", 2)):
            file[name] = np.ones((2, width), "i4")
        file["next_sentence_labels"] = np.zeros(2, "i1")
    whole = open(path, "rb").read()

    def shard(name):
        path = os.path.join(folder, name + ".h5")
        open(path, "wb").write(whole)
        return h5py.File(path, "r+")

    for name, value in (("list", [b"a", b"bc"]), ("numbers", np.arange(3, dtype="i4")), ("empty", h5py.Empty("f4")),
                        ("none", np.zeros(0)), ("reference", None), ("array", None), ("compound", np.complex64(1))):
        with shard("format_" + name) as file:
            if name == "array":
                file.attrs.create("format", np.zeros(3, "i4"), shape=(3,), dtype=np.dtype("(3,)i4"))
            else:
                file.attrs["format"] = file.ref if name == "reference" else value
            file["segment_ids"] = np.zeros((2, 6), "i1")
    swapped = h5py.enum_dtype({"FALSE": 1, "TRUE": 0}, basetype="i1")
    for name, kind in (("array", np.dtype("(3,)i4")), ("matrix", np.dtype("(2,3)f8")), ("sequence", h5py.vlen_dtype("i4")),
                       ("compound", np.dtype([("r", "f4"), ("i", "f4")])), ("text", "S4"), ("variable", h5py.string_dtype()),
                       ("reference", h5py.ref_dtype), ("opaque", "V3"), ("swapped", swapped)):
        with shard("data_" + name) as file:
            file.create_dataset("segment_ids", (2, 6), kind)


{"hostile": hostile, "lzf": lzf, "types": types, "read": read, "write": write}[sys.argv[1]](sys.argv[2])
