# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what whole runs send, as counted by the transport, with the formulas for every part.

    volume_runs.py CASE PROGRAM MPIRUN      CASE: volume"""

import re

from onebit_runs import ONEBIT
from runs import h5py, main, np

RANKS, GROUP, COLUMNS, PER_TENSOR, SHARES = 2, 32768, 16384, 32, 6
WIRE_BYTES = {"fp32": 4, "bf16": 2}


def up(number, divisor):
    return -(-number // divisor)


def dense_mean(count, width):
    """Returns the bytes that rank 0 sends for the mean of `count` numbers: the chunks of others, then its own to each
    of them."""
    mine = count // RANKS
    return width * (count - mine + (RANKS - 1) * mine)


def compressed_mean(count):
    """Returns the same for the compressed allreduce. In either phase there is one message to each other rank: one bit
    per element of a chunk of whole words, and the scales of the groups that the chunk may touch."""
    words = up(count, 32)
    chunk, group = up(words, RANKS), up(words, max(1, up(count, GROUP)))
    touched = [(min(first + chunk, words) - 1) // group - first // group + 1 for first in range(0, words, chunk)]
    return 2 * (RANKS - 1) * 4 * (chunk + max(touched))


def sent(runs, name, wire, count_steps, *more):
    """Returns what a run sent, by phase; its log; and the formulas' values for its parts."""
    output = runs.train(name, RANKS, 4, count_steps, OMP_NUM_THREADS="1",
                        more=("--set", f"comm.dense_wire={wire}", "--set", "batch.global=8", "--set", "statistics.evaluate_every=0",
                              *more))
    with h5py.File(runs.folder / name / "statistics.h5", "r") as file:
        traffic, steps, tensors = file["traffic"][:], file["steps"][:], len(file["layers/name"])
        shares = int(np.isfinite(file["layers/sign_agreement"][:]).any(axis=1).sum()) if "sign_agreement" in file["layers"] else 0
    assert traffic["steps"].sum() == count_steps == len(steps)
    for phase in (0, 1):
        rows = steps[steps["phase"] == phase]
        for column in ("sent_bytes", "scalar_bytes", "dense_bytes_fp32"):
            assert traffic[column][phase] == rows[column].sum(), (column, traffic, rows[column])
    count, (dense, compressed) = runs.parameters(name), traffic["steps"].tolist()
    expected = {"gradients": dense * dense_mean(count, WIRE_BYTES[wire]), "bits": compressed * compressed_mean(count),
                "norms": dense * dense_mean(RANKS, 4),
                "sketches": compressed * dense_mean(COLUMNS + 2 * RANKS + PER_TENSOR * tensors, 4)
                         + shares * dense_mean(SHARES * tensors, 4),
                "fp32": count_steps * dense_mean(count, 4), "bf16": count_steps * dense_mean(count, 2)}
    return traffic, output, expected


def volume(runs):
    """Runs whose first sixth is dense, the share of steps in the paper, and runs that choose their freeze within 10 to
    25 % of the steps and before the latest step. Their learning rate is so small that gradients hardly change."""
    dense = {}
    for wire in WIRE_BYTES:
        traffic, output, expected = sent(runs, f"dense_{wire}", wire, 60)
        dense[wire] = traffic["sent_bytes"][0] - traffic["scalar_bytes"][0]
        assert dense[wire] == expected[wire] and traffic["scalar_bytes"][0] == expected["norms"], (traffic, expected)
        assert "after the freeze" not in output, output
    found = ("optimizer.freeze=auto", "optimizer.beta2=0.98", "optimizer.lr=2e-4", "optimizer.clip=0", "schedule.warmup_steps=6")
    for freeze, steps, settings in (("given", 60, ("optimizer.freeze.step=10",)), ("auto", 280, found)):
        for wire in WIRE_BYTES:
            name = f"onebit_{wire}_{freeze}"
            traffic, output, expected = sent(runs, name, wire, steps, *ONEBIT, *(w for s in settings for w in ("--set", s)))
            before, after = traffic
            warmup = before["steps"] / steps
            assert before["steps"] == 10 if freeze == "given" else 0.1 <= warmup < 0.25, traffic
            # Every byte that the transport counted is in one of the formulas.
            assert before["sent_bytes"] - before["scalar_bytes"] == expected["gradients"], (traffic, expected)
            assert before["scalar_bytes"] == expected["norms"], (traffic, expected)
            assert after["worker_bytes"] == after["server_bytes"] == expected["bits"] / 2, (traffic, expected)
            assert after["scalar_bytes"] == expected["sketches"], (traffic, expected)
            assert after["sent_bytes"] == expected["bits"] + expected["sketches"], (traffic, expected)
            exchange = expected["gradients"] + expected["bits"]
            everything = exchange + expected["norms"] + expected["sketches"]
            print(f"freeze {freeze}: after {before['steps']} of {steps} steps, dense ones in {wire}")
            for other, bits in (("fp32", 32), ("bf16", 16)):
                assert dense[other] * steps == expected[other] * 60
                assert expected[other] == traffic[f"dense_bytes_{other.replace('bf16', '16bit')}"].sum()
                whole, apart = expected[other] / everything, expected[other] / exchange
                phase = expected[other] / steps * after["steps"] / after["sent_bytes"]
                phase_apart = expected[other] / steps * after["steps"] / expected["bits"]
                print(f"  all dense in {other} sends {whole:.2f} times as much, {apart:.2f} without scalars and sketches; in the "
                      f"compressed phase {phase:.2f} times, {phase_apart:.2f} without")
                told = re.search(rf"dense means in {other.replace('bf16', '16 bit')} over the same {steps} steps would have sent "
                                 r"(\d+) bytes, ([\d.]+) times as much; ([\d.]+) without scalars and sketches", output)
                assert told and told.groups() == (str(expected[other]), f"{whole:.2f}", f"{apart:.2f}"), (told, output)
                # An element costs 2 of `bits` bits, the scales a thousandth of that.
                dense_share = warmup * WIRE_BYTES[wire] * 8 / bits
                assert abs(apart * (dense_share + (1 - warmup) / bits) - 1) < 0.003, (apart, warmup)
                assert abs(phase_apart / bits - 1) < 0.003, phase_apart
                if freeze == "given":
                    named = {("bf16", "bf16"): 4.57, ("fp32", "fp32"): 5.19, ("bf16", "fp32"): 9.14, ("fp32", "bf16"): 2.59}
                    assert abs(apart / named[wire, other] - 1) < 0.003, apart


if __name__ == "__main__":
    main(globals())
