# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs of the 1-bit methods: the freeze, restarts around it, nodes.

    onebit_runs.py CASE PROGRAM MPIRUN      CASE: forecast | onebit | momenta | restarts | transports | automatic |
                                              second_dense_phase | checks | hierarchy | residuals"""

import os
import signal
import subprocess

from runs import h5py, main, np
from training_runs import learns

ONEBIT = ("--set", "optimizer.method=onebit_lamb")


def onebit(runs):
    """1-bit LAMB passes LAMB's test of learning and sends 1/32 after the freeze. It continues bit for bit from a
    checkpoint of either phase and from the freeze."""
    frozen = (*ONEBIT, "--set", "optimizer.freeze.step=5", "--set", "optimizer.step_ahead=1")
    output = runs.train("whole", 2, 8, 12, every=1, more=frozen)
    assert "step 6: the variance is frozen after step 5; one bit an element is sent from here on" in output, output
    steps = runs.table("whole")
    assert steps["phase"].tolist() == [0] * 5 + [1] * 7
    ratio = steps["dense_bytes_fp32"][5:] / steps["compressed_bytes"][5:]
    print(f"a dense exchange in fp32 would send {ratio[0]:.2f} times as much")
    assert (ratio > 31.9).all() and (ratio <= 32).all()
    shares_around_the_freeze(runs)
    for step in (1, 4, 5, 6, 9):  # the first step, the last before the freeze, the freeze, the first compressed step
        name = f"from{step}"
        runs.copy(name, "whole", step)
        assert f"step_{step}" in runs.train(name, 2, 8, 12, every=1, more=("--resume", *frozen))
        runs.compare("whole", name, 12)
    refuses_longer_sequences(runs, frozen)
    # On another number of ranks the residuals are resharded, and the run continues close to the original.
    runs.copy("other", "whole", 9)
    runs.train("other", 3, 8, 12, every=1, more=("--resume", *frozen))
    one, other = runs.table("whole")["loss"], runs.table("other")["loss"]
    assert (one[:9] == other[:9]).all() and np.abs(other[9:] / one[9:] - 1).max() < 0.02, (one, other)
    learns(runs, "learning", *ONEBIT, "--set", "optimizer.freeze={latest: 0.4}")
    steps = runs.table("learning")
    frozen_after = int((steps["phase"] == 0).sum())
    checked = np.flatnonzero(np.isfinite(steps["variance_change"]))  # before the steps after 20, 30, ...
    print(f"frozen after {frozen_after} of 300 steps, {len(checked)} checks")
    assert checked.tolist() == list(range(20, min(frozen_after, 110) + 1, 10)), checked  # no check at the latest step
    calm = bool((steps["variance_change"][checked[-3:]] <= 0.04).all())
    assert frozen_after == (checked[-1] if calm else 120), (frozen_after, calm)


def momenta(runs):
    """Exchanged momenta are held as bits and saved as numbers, with or without a copy. Runs continue bit for bit from
    either. On other numbers of ranks they continue close to the original; a single rank holds numbers."""
    for steer in ("variance", "norm"):
        paper = (*ONEBIT, "--set", "optimizer.freeze.step=5", "--set", "optimizer.exchange=momentum", "--set", f"optimizer.steer={steer}")
        for asynchronous in ("true", "false"):
            name = f"{steer}_{asynchronous}"
            more = (*paper, "--set", f"checkpoint.asynchronous={asynchronous}")
            runs.train(name, 2, 8, 12, every=1, more=more)
            for step in (5, 6, 9):  # the freeze, the first exchange, one whose input was read from bits
                again = f"{name}_from{step}"
                runs.copy(again, name, step)
                assert f"step_{step}" in runs.train(again, 2, 8, 12, every=1, more=("--resume", *more))
                runs.compare(name, again, 12)
        runs.compare(f"{steer}_true", f"{steer}_false", 12)
        kept = runs.folder / f"{steer}_true/checkpoints"
        for step, wanted in ((5, None), (6, 1)):
            with h5py.File(kept / f"step_{step}/replicated.h5", "r") as file:
                told = file["optimizer"]
                assert ("momentum_in_bits" in told) == (wanted is not None) == ("momentum_magnitudes" in told), list(told)
                assert np.isfinite(told["momentum"][:]).all() and np.abs(told["momentum"][:]).max() > 0
        for ranks in (1, 4):
            other = f"{steer}_on{ranks}"
            runs.copy(other, f"{steer}_true", 9)
            runs.train(other, ranks, 8, 12, every=1, more=("--resume", *paper))
            one, another = runs.table(f"{steer}_true")["loss"], runs.table(other)["loss"]
            assert (one[:9] == another[:9]).all() and np.abs(another[9:] / one[9:] - 1).max() < 0.02, (one, another)
            # The reverse: numbers that a single rank held become bits again.
            assert "step_12" in runs.train(other, 2, 8, 14, every=1, more=("--resume", *paper))
            assert np.isfinite(runs.table(other)["loss"]).all()


def restarts(runs):
    """The other methods continue bit for bit, too: from checkpoints of either phase and of the freeze, and from jobs
    that signals ended early and late."""
    freeze = ("--set", "optimizer.freeze.step=5")
    for method, more in (("adamw", ("--set", "optimizer.lr=0.001")), ("onebit_adam", freeze), ("onebit_sgd", freeze)):
        more = ("--set", f"optimizer.method={method}", *more)
        runs.train(method, 2, 8, 12, every=1, more=more)
        steps = runs.table(method)
        assert steps["phase"].tolist() == ([0] * 12 if method == "adamw" else [0] * 5 + [1] * 7)
        assert not steps["skipped"].any() and np.isfinite(steps["loss"]).all(), steps
        for step in (2, 5, 8):
            name = f"{method}_from{step}"
            runs.copy(name, method, step)
            assert f"step_{step}" in runs.train(name, 2, 8, 12, every=1, more=("--resume", *more))
            runs.compare(method, name, 12)
        name = f"{method}_in_parts"
        runs.deck(name, 8, 12)
        for after, resume in ((1, ()), (6, ("--resume",))):
            rest, code = runs.stop(runs.command(name, 2, *resume, *more), lambda job: os.killpg(job.pid, signal.SIGUSR1), after)
            assert code in (0, 85), (code, rest)  # 0: the run was done before the signal arrived
        runs.train(name, 2, 8, 12, more=("--resume", *more))
        runs.compare(method, name, 12)


def checks(runs):
    """Every check of `freeze: auto` has a row in /steps, even if statistics.every omits the step, and also after a
    restart just before it."""
    auto = (*ONEBIT, "--set", "optimizer.freeze={latest: 0.8}")  # checks before steps 11, 21, 31; freeze after step 32 of 40
    runs.train("each", 2, 16, 40, every=4, more=auto)
    found = runs.table("each")["variance_change"]
    assert np.flatnonzero(np.isfinite(found)).tolist() == [20, 30], found  # the first check has no predecessor to compare with
    for every in (7, 13, 30, 40):
        name = f"every{every}"
        runs.train(name, 2, 16, 40, every=4, more=(*auto, "--set", f"statistics.every={every}"))
        rows = runs.table(name)
        assert rows["step"].tolist() == sorted({*range(every, 41, every), 21, 31, 40}), rows["step"]
        told = {int(row["step"]): row["variance_change"] for row in rows if np.isfinite(row["variance_change"])}
        assert told == {step: found[step - 1] for step in (21, 31)}, (every, told, found)
    # One job ends after step 28; the next one makes the check before step 31.
    runs.copy("again", "every7", 28)
    assert "step_28" in runs.train("again", 2, 16, 40, every=4,
                                   more=("--resume", *auto, "--set", "statistics.every=7"))
    runs.compare("every7", "again", 40)
    sent = runs.table("each", "traffic")
    assert sent["steps"].tolist() == [32, 8] and sent["phase"].tolist() == [0, 1], sent
    assert sent["sent_bytes"].sum() == runs.table("each")["sent_bytes"].sum(), sent
    for name in ("every7", "again", "every40"):  # independent of the omitted rows
        other = runs.table(name, "traffic")
        assert sent.tobytes() == other.tobytes(), (name, sent, other)


def forecast(runs):
    """check --cluster forecasts the time of steps on other numbers of ranks, with given or measured speeds."""
    runs.deck("run", 8, 100)
    given = "network: {bandwidth: 1}\nnodes: {ranks: 2}\nranks: {most: 8, compute: 10, memory: 20}\n"
    (runs.folder / "given.yaml").write_text(given)
    check = [runs.program, "check", "run.yaml", *ONEBIT, "--set", "optimizer.freeze={step: 20}", "--cluster"]

    text = runs.call([*check, "given.yaml"])
    assert "10 GFLOP/s\n" in text and "20 GB/s\n" in text and "after 20 of 100 steps\n" in text, text
    table = text[text.index("faster below"):].splitlines()[1:]
    assert [line.split()[:2] for line in table] == [["2", "1"], ["4", "2"], ["8", "4"]], text
    assert table[0].endswith(" -") and all(line.endswith(" Gbit/s") for line in table[1:]), text
    (runs.folder / "more.yaml").write_text(given.replace("most: 8", "most: 64"))
    more = runs.call([*check, "more.yaml"])
    assert more.endswith("  more ranks would have nothing to do: a step has 32 sequences (batch.global)\n"), more
    # The forecast does not depend on the number of ranks that compute it.
    other = runs.call([*runs.launch(2), *check, "given.yaml"])
    assert other[other.index("on given.yaml"):] == text[text.index("on given.yaml"):], (text, other)
    (runs.folder / "measured.yaml").write_text("network: {bandwidth: 1}\nnodes: {ranks: 2}\n")
    text = runs.call([*runs.launch(2), *check, "measured.yaml"])
    assert text.count("measured here") == 2, text
    lamb = runs.call([runs.program, "check", "run.yaml", "--set", "optimizer.method=lamb", "--cluster", "given.yaml"])
    assert "faster" not in lamb and "  ranks nodes " in lamb, lamb
    (runs.folder / "bad.yaml").write_text(given.replace("bandwidth", "bandwith"))
    told = runs.refuse([*runs.launch(3), *check, "bad.yaml"])
    assert told.splitlines() == [
        "error: bad.yaml:1:1: network.bandwidth: missing; allowed: a number greater than 0 and at most 1000000000 (Gbit/s)",
        "error: bad.yaml:1:11: network.bandwith: unknown key (did you mean 'bandwidth'?); one of bandwidth, latency, overhead"], told


def transports(runs):
    """A run that continues over another transport, in either phase, is the same bit for bit."""
    def through(transport):
        return (*ONEBIT, "--set", "optimizer.freeze.step=4", "--set", f"comm.transport={transport}")

    runs.train("direct", 2, 8, 8, every=1, more=through("mpi"))
    for step in (2, 6):
        name = f"staged{step}"
        runs.copy(name, "direct", step)
        output = runs.train(name, 2, 8, 8, every=1, more=("--resume", *through("mpi_staged")))
        assert f"step_{step}" in output and "comm.transport mpi_staged (was mpi)" in output, output
        runs.compare("direct", name, 8)


def automatic(runs):
    """A restart before `freeze: auto` freezes changes nothing: neither the checks, nor the step of the freeze, nor any
    later bit. A restart that lowers a fixed freeze step below the current step freezes immediately."""
    common = (*ONEBIT, "--set", "optimizer.beta2=0.98", "--set", "optimizer.lr=2e-4", "--set",
              "statistics.evaluate_every=0", "--set", "optimizer.clip=0")
    chosen = ("--set", "optimizer.freeze={latest: 0.9}")

    def resume(name, step, *more):
        runs.copy(name, "whole", step)
        output = runs.train(name, 2, 16, 80, every=5, more=("--resume", *common, *more))
        assert f"step_{step}" in output, output
        return output

    runs.train("whole", 2, 16, 80, every=5, more=(*common, *chosen))
    steps = runs.table("whole")
    frozen_after = int((steps["phase"] == 0).sum())
    changes = steps["variance_change"][np.isfinite(steps["variance_change"])]
    print(f"frozen after {frozen_after} of 80 steps; changes", np.round(changes, 3).tolist())
    assert 50 <= frozen_after < 72 and (np.abs(changes[-3:]) <= 0.04).all(), "chosen, not the latest step"
    # Between checks, after a check that has not taken effect, and just before the freeze.
    for step in (frozen_after - 15, frozen_after - 10, frozen_after - 5):
        resume(f"from{step}", step, *chosen)
        runs.compare("whole", f"from{step}", 80)
    output = resume("lowered", 15, "--set", "optimizer.freeze={step: 4}", "--set", "optimizer.steer=variance")
    assert "step 16: the variance is frozen after step 15; one bit an element is sent from here on" in output, output
    assert runs.table("lowered")["phase"].tolist() == [0] * 15 + [1] * 65


def shares_around_the_freeze(runs):
    """Every step is near the freeze after step 5: all have rows, and compressed ones have shares."""
    with h5py.File(runs.folder / "whole/statistics.h5", "r") as file:
        layers = file["layers"]
        assert layers["step"][:].tolist() == list(range(1, 13))
        # Tensors of a few elements may lose many times what they send; the middle layer is typical.
        for name, least, most in (("worker_error_share", 0.1, 1.5), ("server_error_share", 0.1, 1.5),
                                  ("sign_agreement", 0.5, 1)):
            values = layers[name][:]
            assert np.isnan(values[:5]).all(), name
            told = values[5:][np.isfinite(values[5:])]
            dead = [text for text, column in zip(layers["name"].asstr()[:], values[5:].T) if np.isnan(column).any()]
            assert all(text.endswith("key.bias") for text in dead), (name, dead)
            middle = np.median(told)
            print(f"{name} of layers: {told.min():.3f} to {told.max():.3f}, median {middle:.3f}")
            assert least < middle < most and told.min() >= 0, (name, told)
            assert name != "sign_agreement" or told.max() <= 1, told


def refuses_longer_sequences(runs, frozen):
    """Position embeddings that only longer sequences use have no variance after the freeze. A resume with longer
    sequences is refused before training continues."""
    runs.call([runs.program, "prepare", "text.txt", "--vocab", "vocab.txt", "--out", "long", "--sequence-length", "96"])
    wide, longer = ("--set", "model.positions=96"), ("--set", "data.heldout=[long]")
    runs.train("rows", 2, 8, 8, every=2, more=(*frozen, *wide))

    def contents():
        return {path: path.read_bytes() for path in (runs.folder / "rows").rglob("*")
                if path.is_file() and (path.suffix in (".yaml", ".h5") or path.name == "manifest")}

    runs.go_back("rows", 6)
    before = contents()
    told = runs.refuse(runs.command("rows", 2, "--resume", *frozen, *wide, *longer))
    assert told.count("error: ") == 2, told  # the fault, and the differences; from one rank
    assert "error: --set data.heldout=[long]: longer sequences than in the run of " in told, told
    assert "position_embeddings.weight (6144 active elements, 4096 in the checkpoint); allowed: sequences as long" in told
    assert "or optimizer.freeze.step above 6, which starts a second dense phase" in told, told
    assert contents() == before
    runs.copy("alive", "rows", 6)
    again = (*ONEBIT, "--set", "optimizer.freeze.step=7")
    assert "is undone: dense steps until step" in runs.train("alive", 2, 8, 8, every=2, more=("--resume", *again, *wide, *longer))
    assert runs.table("alive")["phase"].tolist() == [0] * 5 + [1, 0, 1]
    runs.go_back("rows", 4)  # before the freeze they may become active
    assert "step_4" in runs.train("rows", 2, 8, 8, every=2, more=("--resume", *frozen, *wide, *longer))
    assert runs.table("rows")["phase"].tolist() == [0] * 5 + [1] * 3


def second_dense_phase(runs):
    """After the freeze, a freeze.step above the current step starts a second dense phase. Otherwise, settings on which residuals
    or states depend cannot change."""
    def method(freeze, *more):
        return (*ONEBIT, "--set", f"optimizer.freeze.step={freeze}", *more)

    for ranks in (1, 2):
        whole = f"whole{ranks}"
        runs.train(whole, ranks, 8, 6, every=2, more=method(3))
        runs.copy(f"frozen{ranks}", whole, 6)
        output = runs.train(whole, ranks, 8, 12, every=1, more=("--resume", *method(9)))
        assert ("step 7: the freeze after step 3 is undone: dense steps until step 9; compression errors are "
                "dropped") in output, output
        assert "step 10: the variance is frozen after step 9" in output, output
        assert runs.table(whole)["phase"].tolist() == ([0] * 3 + [1] * 3) * 2
        for step in (8, 9, 11):
            runs.copy(f"{whole}_from{step}", whole, step)
            output = runs.train(f"{whole}_from{step}", ranks, 8, 12, every=1, more=("--resume", *method(9)))
            assert "is undone: dense steps until step" not in output, output
            runs.compare(whole, f"{whole}_from{step}", 12)
    changes = {"unify": ("layer", "element"), "exchange": ("momentum", "gradient"), "steer": ("variance", "norm"),
               "frozen_variance": ("whole", "shape")}
    runs.deck("frozen2", 8, 8)
    for key, (now, was) in changes.items():
        told = runs.refuse(runs.command("frozen2", 2, "--resume", *method(3, "--set", f"optimizer.{key}={now}")))
        assert told.count("error: ") == 1 and f"error: --set optimizer.{key}={now}: {now}, but " in told, told
        assert (f"step_6 was written after the freeze with {was}, and the frozen state depends on it; allowed: {was}, or "
                "optimizer.freeze.step above 6, which starts a second dense phase") in told, told
    other = [word for key in ("unify", "exchange", "steer") for word in ("--set", f"optimizer.{key}={changes[key][0]}")]
    runs.copy("warming2", "frozen2", 2)
    for name, freeze, phases in (("frozen2", 7, [0] * 3 + [1] * 3 + [0, 1]), ("warming2", 3, [0] * 3 + [1] * 5)):
        runs.train(name, 2, 8, 8, more=("--resume", *method(freeze, *other)))
        assert runs.table(name)["phase"].tolist() == phases, name


def of_ranks(folder, name):
    """Returns (first, values) of a data set in each rank's file of a checkpoint."""
    found = []
    for path in sorted(folder.glob("rank*.h5")):
        with h5py.File(path, "r") as file:
            place = file["optimizer"][name]
            found.append((int(place.attrs.get("first", 0)), place[:]))
    return found


def residuals(runs):
    """checkpoint.worker_error: mean saves the mean of the per-rank residuals once. A resume from it equals a resume on
    another number of ranks from exact residuals. checkpoint.asynchronous changes only the time of writing."""
    frozen = (*ONEBIT, "--set", "optimizer.freeze.step=3")
    mean = ("--set", "checkpoint.worker_error=mean", "--set", "checkpoint.asynchronous=false")
    runs.train("exact", 3, 8, 8, every=4, more=frozen)
    runs.train("mean", 3, 8, 8, every=4, more=(*frozen, *mean))
    runs.compare("exact", "mean", 8, "replicated.h5")
    for name in ("worker_error", "mean_residual"):
        each = [values for _, values in of_ranks(runs.folder / "exact/checkpoints/step_4", name)]
        wanted = (sum(values.astype(np.float64) for values in each) / 3).astype(np.float32)
        assert np.abs(wanted).max() > 0 and (each[0] != each[1]).any()
        parts = of_ranks(runs.folder / "mean/checkpoints/step_4", name)
        assert [first for first, _ in parts] == [len(wanted) * rank // 3 for rank in range(3)], parts
        assert np.concatenate([values for _, values in parts]).tobytes() == wanted.tobytes(), name
    for name, ranks, more in (("exact", 2, ()), ("mean", 2, mean), ("mean", 3, mean)):
        again = f"{name}_on_{ranks}"
        runs.copy(again, name, 4)
        assert "step_4" in runs.train(again, ranks, 8, 8, every=4, more=("--resume", *frozen, *more))
    runs.compare("exact_on_2", "mean_on_2", 8, "replicated.h5")  # both resume from the mean
    one, other = runs.table("exact")["loss"], runs.table("mean_on_3")["loss"]
    assert (one[:4] == other[:4]).all() and np.abs(other / one - 1).max() < 0.02, (one, other)
    assert (one[5:] != other[5:]).any()  # the per-rank values are lost


def hierarchy(runs):
    """Four ranks on two nodes: every 1-bit method resumes bit for bit. Inter-node traffic is a quarter of the traffic
    without nodes. Impossible settings are rejected, doubtful ones cause warnings."""
    def of(ranks):
        return ("--set", "comm.hierarchy=node", "--set", f"comm.ranks_per_node={ranks}")

    for method in ("onebit_lamb", "onebit_adam", "onebit_sgd"):
        common = ("--set", f"optimizer.method={method}", "--set", "optimizer.freeze.step=4", "--set",
                  "optimizer.step_ahead=1")
        more = (*common, *of(2))
        runs.train(method, 4, 8, 8, every=1, more=more)
        runs.copy(f"{method}_again", method, 6)
        runs.train(f"{method}_again", 4, 8, 8, every=1, more=("--resume", *more))
        runs.compare(method, f"{method}_again", 8)
        steps = runs.table(method)
        count = runs.parameters(method)
        exchange = steps["sent_bytes"] - steps["scalar_bytes"]
        between = steps["sent_bytes"] - steps["intra_node_bytes"]
        assert steps["phase"].tolist() == [0] * 4 + [1] * 4
        # N/(8 L) bytes and both scales to the rank on the other node, and the small reduction to two of three others.
        bits = 4 * -(-count // (32 * 4)) * 2 + 8
        assert (np.abs(between[4:] - 2 * steps["scalar_bytes"][4:] / 3 - bits) <= 64).all(), (between, bits)
        values = 4 * count / 2 + count / 16 + 8
        assert (np.abs(exchange[4:] - bits - values) <= 256).all(), (exchange, bits, values)
        # Without nodes, on one node, on other ranks, from the same checkpoint: close to the original.
        if method != "onebit_lamb":
            continue
        for name, ranks, other in (("flat", 4, ()), ("one", 4, of(4)), ("three", 3, of(1)), ("two", 2, of(2))):
            name = f"{method}_{name}"
            runs.copy(name, method, 6)
            runs.train(name, ranks, 8, 8, every=1, more=("--resume", *common, *other))
            was, now = runs.table(method)["loss"], runs.table(name)["loss"]
            assert (was[:6] == now[:6]).all() and np.abs(now[6:] / was[6:] - 1).max() < 0.02, (name, was, now)
    runs.deck("refused", 8, 8)
    for command in ("train", "check"):
        told = runs.refuse(runs.launch(4) + [runs.program, command, "refused.yaml", "--set", "comm.hierarchy=node",
                                             "--set", "comm.ranks_per_node=3"])
        assert told == ("error: --set comm.ranks_per_node=3: 3; its nodes hold from 1 to 3 ranks; allowed: the same "
                        "number of ranks on every node, or comm.hierarchy: none"), told
    runs.deck("checked", 8, 8)
    check = runs.launch(4) + [runs.program, "check", "checked.yaml", *ONEBIT, "--set", "comm.hierarchy=node"]
    done = subprocess.run(check, cwd=runs.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert "warning: comm.hierarchy: node, but one node holds all 4 ranks" in done.stderr, done.stderr
    text = runs.call([*check, "--set", "comm.ranks_per_node=2"])
    assert "4 on 2 nodes" in text and "inside its node" in text, text


if __name__ == "__main__":
    main(globals())
