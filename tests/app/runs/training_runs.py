# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs with uncompressed methods and compares them.

    training_runs.py CASE PROGRAM MPIRUN      CASE: cuts | repeats | threads | resumes | interrupts | interrupts_within |
                                                killed | learns | noise"""

import math
import os
import random
import re
import shutil
import signal
import subprocess
import time

from runs import PATIENCE, h5py, main, np, ranks_of


def cuts(runs):
    """The same global batch of 32 with dropout and clipping, divided into ranks and micro-batches in four ways."""
    shapes = [(1, 32), (2, 8), (3, 5), (4, 1)]
    for ranks, micro in shapes:
        runs.train(f"p{ranks}", ranks, micro, 50)
    reference = runs.table("p1")
    assert len(reference) == 50 and (reference["clip_factor"] < 1).any()
    for ranks, _ in shapes[1:]:
        other = runs.table(f"p{ranks}")
        for column in ("loss", "gradient_norm"):
            worst = np.max(np.abs(other[column] / reference[column] - 1))
            print(f"P = {ranks}: largest relative difference of {column}: {worst:.2e}")
            assert worst <= 1e-4, (ranks, column, worst)
        assert (other["tokens"] == reference["tokens"]).all()


def repeats(runs):
    for ranks in (1, 3):
        for name in ("first", "second"):
            runs.train(f"{name}{ranks}", ranks, 7, 8)
        runs.compare(f"first{ranks}", f"second{ranks}", 8)


def threads(runs):
    """The number of threads per rank changes no bit."""
    for count in (1, 2):
        runs.train(f"threads{count}", 1, 7, 10, OMP_NUM_THREADS=str(count))
    runs.compare("threads1", "threads2", 10)


def resumes(runs):
    """Compares an uninterrupted run with resumes from every checkpoint."""
    runs.train("whole", 2, 8, 9, every=3)
    for step in (3, 6):
        name = f"from{step}"
        shutil.copytree(runs.folder / "whole", runs.folder / name)
        for later in range(step + 1, 10):
            shutil.rmtree(runs.folder / name / f"checkpoints/step_{later}", ignore_errors=True)
        output = runs.train(name, 2, 8, 9, every=3, more=("--resume",))
        assert f"step_{step}" in output and "settings differ" not in output, output
        runs.compare("whole", name, 9)
    passes_over_damage(runs)
    runs.train("whole", 2, 8, 9, every=3, expected=2)  # a second run does not overwrite the first
    output = runs.train("whole", 2, 8, 10, more=("--resume", "--set", "optimizer.lr=0.01"))
    assert ("settings differ from those of the checkpoint: checkpoint.every 0 (was 3), optimizer.lr 0.01 (was 0.02), "
            "schedule.steps 10 (was 9)") in output, output
    resumes_skipping(runs)
    explodes(runs)
    refuses_to_resume(runs)


def passes_over_damage(runs):
    """The newest checkpoint has a flipped bit. It is named, and the run continues from the one before."""
    shutil.copytree(runs.folder / "whole", runs.folder / "damaged")
    shutil.rmtree(runs.folder / "damaged/checkpoints/step_9")
    file = runs.folder / "damaged/checkpoints/step_6/replicated.h5"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    output = runs.train("damaged", 2, 8, 9, every=3, more=("--resume",))
    assert re.search(r"^warning: checkpoint skipped: \S+/step_6/replicated\.h5: its checksum does not match$", output, re.MULTILINE) \
        and re.search(r"^resumed from \S+/step_3$", output, re.MULTILINE), output
    runs.compare("whole", "damaged", 9)


def resumes_skipping(runs):
    """Steps skipped before the checkpoint stay in the record."""
    def train(name, limit, *more):
        return runs.train(name, 2, 8, 9, expected=1, more=("--set", "optimizer.method=adamw", "--set", "optimizer.lr=1e6",
                                                           "--set", f"optimizer.skip_limit={limit}", *more))

    assert " on rank 0 is not finite\n" in train("skipping", 7)
    train("parts", 4)
    train("parts", 7, "--resume")
    assert runs.table("skipping")["skipped"].sum() == 7
    runs.compare_table("skipping", "parts", "steps", 9)


def explodes(runs):
    """A gradient of an unusual norm is skipped with its layer and rank, and ends the run at the deck's limit."""
    def train(name, limit, expected, *more):
        return runs.train(name, 2, 8, 48, expected=expected, more=("--set", "optimizer.norm_limit=1.05",
                                                                   "--set", f"optimizer.skip_limit={limit}", *more))

    told = train("exploding", 20, 0)
    skipped = runs.table("exploding")[runs.table("exploding")["skipped"] != 0]
    warnings = re.findall(r"^warning: step (\d+) skipped: the gradient's norm of [\d.]+ is [\d.]+ times its mean so far, most of it of "
                          r"(bert|cls)\.[\w.]+ on rank [01]$", told, re.MULTILINE)
    assert [int(step) for step, _ in warnings] == skipped["step"].tolist() and len(skipped) > 0, told
    assert (skipped["step"] > 20).all() and np.isfinite(skipped["gradient_norm"]).all(), skipped
    first = int(skipped["step"][0])
    train("stopping", 1, 1)
    train("stopping", 20, 0, "--resume")
    assert (runs.folder / f"stopping/checkpoints/step_{first - 1}/manifest").exists()
    runs.compare("exploding", "stopping", 48)


def refuses_to_resume(runs):
    """A refused resume changes nothing in the run directory."""
    def contents():
        return {path: path.read_bytes() for path in (runs.folder / "whole").rglob("*")
                if path.is_file() and path.suffix in (".yaml", ".h5")}

    before = contents()
    told = runs.refuse(runs.command("whole", 2, "--resume", "--set", "model.hidden=32"))
    assert re.fullmatch(r"error: --set model.hidden=32: 32, but \S+/step_10 was written with 64, and its weights have the sizes "
                        r"of that model; allowed: 64", told), told
    told = runs.refuse(runs.command("whole", 2, "--resume", "--set", "optimizer.method=adamw"))
    assert re.fullmatch(r"error: --set optimizer.method=adamw: adamw, but \S+/step_10 was written with lamb, and a run cannot change "
                        r"its method; allowed: lamb", told), told
    runs.train("whole", 2, 8, 9, every=3, more=("--resume",), expected=2)  # it has done 10
    assert contents() == before
    for manifest in (runs.folder / "whole/checkpoints").glob("step_*/manifest"):
        manifest.unlink()  # now all checkpoints are damaged
    runs.train("whole", 2, 8, 10, every=3, more=("--resume",), expected=2)
    assert contents() == before


def interrupts(runs):
    """After a signal the run finishes its step and writes a checkpoint, from which it continues as if undisturbed. The
    launcher forwards SIGUSR1 to ranks. At Ctrl-C, Open MPI 4 gives its ranks one second by default."""
    runs.train("whole", 2, 8, 40)
    version = runs.call([runs.mpirun, "--version"])
    ways = [("told", signal.SIGUSR1, {}), ("pressed", signal.SIGINT, {"OMPI_MCA_odls_base_sigkill_timeout": "3"})]
    for name, sent, environment in ways if "(Open MPI) 4." in version else ways[:1]:
        runs.deck(name, 8, 40)
        rest, code = runs.stop(runs.command(name, 2), lambda job, sent=sent: os.killpg(job.pid, sent), **environment)
        assert code == 85 if sent == signal.SIGUSR1 else code != 0, (code, rest)
        assert "--resume" in rest, rest
        assert "resumed from" in runs.train(name, 2, 8, 40, more=("--resume",))
        runs.compare("whole", name, 40)


def interrupts_within(runs):
    """Signals to one rank at any moment of steps with 16 micro-batches per rank, and of evaluations, which take most of
    the time here; also with 1-bit LAMB in its compressed phase. The moment is chosen from the pace of the interrupted
    run."""
    rng = random.Random(11)

    def send(job):
        told = time.time()
        while (line := job.stdout.readline()) and not line.startswith("step "):
            pass
        time.sleep(rng.uniform(0, 2 * (time.time() - told)))
        os.kill(ranks_of(job, 2)[rng.randrange(2)], signal.SIGUSR1)

    evaluating = ("--set", "batch.global=8", "--set", "statistics.evaluate_every=1", "--set", "statistics.evaluate_sequences=160")
    for what, micro, settings in (("passes", 1, ()), ("evaluations", 4, evaluating)):
        for method, after, freeze in (("lamb", 1, ()), ("onebit_lamb", 5, ("--set", "optimizer.freeze.step=4"))):
            whole, parts = f"{what}_{method}", f"{what}_{method}_in_parts"
            more = ("--set", f"optimizer.method={method}", "--set", "statistics.print_every=1", *freeze, *settings)
            runs.deck(whole, micro, 20)
            first = []
            assert runs.stop(runs.command(whole, 2, *more), lambda job, first=first: first.append(time.time()))[1] == 0
            assert what == "passes" or runs.table(whole)["step_seconds"].sum() < (time.time() - first[0]) / 2
            runs.deck(parts, micro, 20)
            for resume in ((), ("--resume",)):
                rest, code = runs.stop(runs.command(parts, 2, *resume, *more), send, after)
                assert code == 85 and " by a signal; continue with --resume" in rest, (code, rest)
            assert "resumed from" in runs.train(parts, 2, micro, 20, more=("--resume", *more))
            runs.compare(whole, parts, 20)


def killed(runs):
    """A run is killed while this process reads its statistics in a loop. Every read is consistent and rows only
    increase. The resumed run ends like an undisturbed one."""
    runs.train("whole", 2, 8, 40, every=4)
    runs.deck("killed", 8, 40, every=4)
    seen, reads = np.zeros(0), 0
    with subprocess.Popen(runs.command("killed", 2), cwd=runs.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while not (runs.folder / "killed/statistics.h5").exists():
            assert process.poll() is None
            time.sleep(0.02)
        while len(seen) < 12 or not (runs.folder / "killed/checkpoints/step_8/manifest").exists():
            assert process.poll() is None
            rows, reads = runs.table("killed"), reads + 1
            assert len(rows) >= len(seen) and rows[:len(seen)].tobytes() == seen.tobytes(), (seen, rows)
            assert (rows["step"] == np.arange(1, len(rows) + 1)).all(), rows
            seen = rows
        for rank in ranks_of(process, 2):
            os.kill(rank, signal.SIGKILL)
        assert process.wait(timeout=PATIENCE) not in (0, 85)
    print(f"{reads} reads, {len(seen)} rows before the end")
    assert len(runs.table("killed")) >= len(seen)
    assert not (runs.folder / "killed/checkpoints/step_40").exists()
    assert "resumed from" in runs.train("killed", 2, 8, 40, every=4, more=("--resume",))
    runs.compare("whole", "killed", 40)


def learns(runs, name="learning", *more):
    """The held-out masked-LM loss falls below the entropy of the unigram distribution, which frequencies alone
    reach."""
    with h5py.File(next((runs.folder / "shards").glob("*.h5")), "r") as file:
        ids, real = file["input_ids"][:], file["input_mask"][:].astype(bool)
    counts = np.bincount(ids[real], minlength=runs.vocabulary).astype(float)
    counts[:5] = 0  # special tokens are never predicted
    share = counts[counts > 0] / counts.sum()
    entropy = float(-(share * np.log(share)).sum())
    start = time.time()
    runs.train(name, 2, 16, 300, more=more)
    losses = runs.table(name, "evaluation")["mlm_loss"]
    print(f"unigram entropy {entropy:.3f}, held-out losses {losses[0]:.3f} .. {losses[-1]:.3f}, "
          f"{time.time() - start:.0f} s")
    assert math.isfinite(losses[-1]) and losses[-1] < entropy - 0.2


def noise(runs):
    """The noise scale is recorded, continues over a restart, and is unknown if it cannot be measured."""
    noisy = ("--set", "statistics.noise_beta=0.8")
    output = runs.train("whole", 2, 8, 12, every=6, more=noisy)
    steps = runs.table("whole")
    assert "gradient noise scale: " in output and "this run's batch is 32" in output, output
    ranks, batch = 2, 32
    trace = batch * (steps["local_square"] - steps["mean_square"]) / (ranks - 1)
    smoothed = weight = 0
    for step, sample in zip(steps, trace):
        smoothed, weight = 0.8 * smoothed + 0.2 * sample, 0.8 * weight + 0.2
        assert math.isclose(step["noise_trace"], smoothed / weight, rel_tol=1e-9)
    known = steps["noise_signal"] > 0
    assert (np.isnan(steps["noise_scale"]) == ~known).all()
    print("noise scales:", np.round(steps["noise_scale"], 1).tolist())
    shutil.copytree(runs.folder / "whole", runs.folder / "again")
    shutil.rmtree(runs.folder / "again/checkpoints/step_12")
    runs.train("again", 2, 8, 12, every=6, more=("--resume", *noisy))
    runs.compare("whole", "again", 12)
    runs.train("passes", 1, 8, 3)
    passes = runs.table("passes")
    assert np.isfinite(passes["noise_trace"]).all() and np.isfinite(passes["local_square"]).all()
    output = runs.train("alone", 1, 32, 3)
    assert "gradient noise scale: unknown;" in output, output
    alone = runs.table("alone")
    for column in ("local_square", "noise_signal", "noise_trace", "noise_scale", "critical_batch"):
        assert np.isnan(alone[column]).all(), column
    assert np.allclose(alone["mean_square"], alone["gradient_norm"] ** 2, rtol=1e-12, atol=0)


if __name__ == "__main__":
    main(globals())
