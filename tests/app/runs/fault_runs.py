# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests whole runs of the program on faulty hardware.

    fault_runs.py CASE PROGRAM MPIRUN FAILING_PROGRAM FAILING_MPI      CASE: flipped_bit | flipped_bit_compressed | unsound |
                                                             skipped_compressed | skipped_starts | lost_rank | lost_in_evaluation |
                                                             lost_in_checkpoint | lost_from_node | stopped_rank |
                                                             stopped_start | stopped_end | suspended_job

FAILING_PROGRAM is the program linked with failing_product.cpp, FAILING_MPI the library built from failing_mpi.c. Cases of
lost and stopped ranks need Open MPI 4, whose launcher has an option that keeps other ranks alive when one dies. Exits
with 4 (skipped for ctest) if a process may not write into its children's memory."""

import copy
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

from runs import PATIENCE, h5py, main, preloaded, ranks_of

ONEBIT = ("--set", "optimizer.method=onebit_lamb", "--set", "optimizer.freeze.step=4")


def lines_of(maps):
    """Returns lines until the process ends. It may crash, because its memory was changed."""
    try:
        yield from maps
    except ProcessLookupError:
        pass


def overwrite(process, values, others):
    """Overwrites these bytes everywhere in a process's memory. Returns the number of occurrences."""
    count = 0
    with open(f"/proc/{process}/maps", encoding="ascii") as maps, open(f"/proc/{process}/mem", "r+b", buffering=0) as memory:
        for line in lines_of(maps):
            span, rights = line.split()[:2]
            first, end = (int(word, 16) for word in span.split("-"))
            if not rights.startswith("rw") or end - first > 2**32:  # larger regions belong to a sanitizer
                continue
            memory.seek(first)
            try:
                held = memory.read(end - first)
            except OSError:  # reserved regions, or memory of a device
                continue
            for at in re.finditer(re.escape(values), held):
                memory.seek(first + at.start())
                memory.write(others)
                count += 1
    return count


def overwritten(process, values, others):
    """Returns the final output of a job of two ranks; these bytes are overwritten on the second one."""
    try:
        count = overwrite(ranks_of(process, 2)[1], values, others)
    except PermissionError as refused:
        process.kill()
        print(f"skipped: {refused}")
        sys.exit(4)
    assert count > 0
    return process.communicate(timeout=PATIENCE)[1]


def still_values(runs, name):
    """Returns the bytes of a tensor in a run whose weights do not change."""
    runs.train("still", 2, 16, 2, every=1, more=("--set", "optimizer.lr=0"))
    with h5py.File(runs.folder / "still/checkpoints/step_2/replicated.h5", "r") as file:
        return file["parameters"][name][:].tobytes()[-4096:]


def finds_flipped_bit(runs, after, *method):
    """Flips one bit of one parameter of one rank after a step. Weights do not change here, so the bytes to search for
    are known."""
    name = "bert.encoder.layer.1.output.dense.weight"
    values = still_values(runs, name)
    runs.deck("hit", 8, 100000, every=0)
    more = ("--set", "optimizer.lr=0", "--set", "run.verify_every=40", "--set", "statistics.evaluate_every=0", *method)
    with subprocess.Popen(runs.command("hit", 2, *more), cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        compresses = False
        for line in process.stdout:
            compresses = compresses or "one bit an element is sent from here on" in line
            if (step := re.match(r"step (\d+)/", line)) and int(step[1]) >= after:
                break
        assert compresses == (method != ())
        told = overwritten(process, values, bytes([values[0] ^ 1]))
        assert process.returncode not in (0, 85), told
    host = os.uname().nodename
    found = re.search(r"error: step (\d+): ranks do not hold the same state any more: rank 1 on (\S+) differs from rank 0 in "
                      r"parameters of ([\w.]+)( and \d+ more)?(;|, )", told)
    assert found and int(found[1]) % 40 == 0 and found[2].split(".")[0] == host.split(".")[0], told
    assert name in told, told
    assert "no checkpoint of this step is written" in told, told
    assert not list((runs.folder / "hit/checkpoints").glob("step_*"))


def flipped_bit(runs):
    """With a dense exchange of gradients."""
    finds_flipped_bit(runs, 1)


def flipped_bit_compressed(runs):
    """With a compressed exchange: every rank continues with its own parameters."""
    finds_flipped_bit(runs, 6, *ONEBIT)


def unsound(runs):
    """A parameter of one rank becomes NaN. The error names it, not the resulting gradient, and no checkpoint is
    written."""
    name = "bert.encoder.layer.1.output.dense.weight"
    values = still_values(runs, name)
    runs.deck("unsound", 8, 100000)
    more = ("--set", "optimizer.lr=0", "--set", "run.verify_every=0", "--set", "statistics.evaluate_every=0")
    with subprocess.Popen(runs.command("unsound", 2, *more), cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        next(line for line in process.stdout if re.match(r"step \d+/", line))
        told = overwritten(process, values, struct.pack("f", float("nan")))
        assert process.returncode not in (0, 85), told
    assert re.search(r"error: step \d+: the state, not the gradient, is at fault: rank 1: parameters/" + re.escape(name) +
                     r": value \d+ is nan; allowed: finite numbers; no checkpoint of it is written", told), told
    assert not list((runs.folder / "unsound/checkpoints").glob("step_*"))


def failing(runs, at_pass):
    """Runs the program with faulty products. The environment selects the forward pass of rank 1 in which one fails."""
    other = copy.copy(runs)
    other.program = sys.argv[4]
    stride = -(-runs.vocabulary // 32) * 32  # the row stride of logits
    return other, {"FAILING_RANK": "1", "FAILING_STRIDE": str(stride), "FAILING_PASS": str(at_pass)}


def skipped_compressed(runs):
    """One rank's gradient is non-finite in a single step after the freeze. All ranks skip that step. A run that ends
    there continues like an uninterrupted one, from a checkpoint made before or after the skipped step."""
    def train(name, limit, passes, expected, *more, every=0):
        faulty, when = failing(runs, passes)
        return faulty.train(name, 2, 16, 12, every, expected=expected, **when,
                            more=(*ONEBIT, "--set", "model.compute=fp32", "--set", f"optimizer.skip_limit={limit}", *more))

    told = train("whole", 20, 7, 0)
    assert re.findall(r"^warning: step .* skipped: .*", told, re.MULTILINE) == [
        "warning: step 7 skipped: the gradient of bert.embeddings.word_embeddings.weight on rank 1 is not finite"], told
    steps = runs.table("whole")
    assert steps["skipped"].tolist() == 6 * [0] + [1] + 6 * [0] and steps["phase"].tolist() == 4 * [0] + 9 * [1], steps
    assert "skipped" not in train("smooth", 20, 0, 0)
    assert len(runs.table("smooth")) == 12
    train("after", 1, 7, 1)
    train("before", 20, 0, 0, every=3)
    for later in (9, 12):
        shutil.rmtree(runs.folder / f"before/checkpoints/step_{later}")
    for name, every, passes in (("after", 0, 0), ("before", 3, 1)):
        told = train(name, 20, passes, 0, "--resume", every=every)
        assert f"resumed from {runs.folder}/{name}/checkpoints/step_6\n" in told, told
        assert ("step 7 skipped" in told) == (name == "before"), told
        runs.compare("whole", name, 12)


def skipped_starts(runs):
    """A resumed run does not repeat the batch of a skipped step. Jobs that end at their first skipped step, by the skip
    limit or a time limit, save their position in the data although the step is unchanged. This counts as progress, no
    matter how often it happens."""
    runs.train("run", 2, 16, 2)
    faulty, when = failing(runs, 1)

    def sample():
        with h5py.File(runs.folder / "run/checkpoints/step_2/replicated.h5", "r") as file:
            return int(file["data/sample"][()])

    runs.deck("run", 16, 4000)
    limit = ("--set", "optimizer.skip_limit=1")
    hurry = ("--set", "run.walltime=0:00:01")
    for more, code in 2 * [(limit, 1)] + 2 * [(hurry, 85)]:  # without progress, a fourth start would be refused
        before = sample()
        told = runs.call([*faulty.command("run", 2), "--resume", "--set", "model.compute=fp32", *more], expected=code, **when)
        assert "stopped at step 2, near the end of run.walltime" in told or code == 1, told
        assert sample() == before + 32, (before, sample(), told)
    lines = (runs.folder / "run/starts.txt").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines[-4:]] == ["step 2, 2 ranks", "checkpoint of step 2"] * 2, lines
    runs.train("run", 2, 16, 4, more=("--resume",))
    assert runs.table("run")["skipped"].tolist() == [0, 0, 1, 1, 1, 1, 0, 0]


def gone(process):
    """Returns true if a process has ended; no orphan may continue to compute."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def without(runs, name, sent, *more, ranks=3, label=r"bellwether::\w+::\w+", moment=lambda folder: True):
    """Returns what ranks print when one of them gets a signal that it cannot handle, during training, once moment(run
    directory) is true. False if the others then wait in a collective other than `label`."""
    if not runs.has_openmpi_4():
        print("skipped: this launcher ends all ranks with the first")
        sys.exit(4)
    runs.deck(name, 8, 100000, every=5)
    more = ("--set", "comm.deadline=8", "--set", "checkpoint.keep=3", *more)
    command = runs.command(name, ranks, *more)
    command.insert(1, "--enable-recovery")
    with subprocess.Popen(command, cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        while not any((folder / "manifest").exists() for folder in runs.folder.glob(f"{name}/checkpoints/step_[1-9]*[0-9]")):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.05)
        every = ranks_of(process, ranks)
        while not moment(runs.folder / name):
            assert process.poll() is None, process.communicate()[1]
        os.kill(every[1], sent)
        told = process.communicate(timeout=PATIENCE)[1]
    deadline = time.time() + 30
    while not all(gone(rank) for rank in every):
        assert time.time() < deadline, "a rank outlives its job"
        time.sleep(0.1)
    # Messages that rank 1 still sent may let some ranks go on to the next collective; they wait there like the others.
    survivors = [rank for rank in range(ranks) if rank != 1]
    in_place = True
    for rank in survivors:
        found = re.search(rf"\[rank {rank}\] error: collective timeout: [\w -]+ (bellwether::\w+::\w+), .*, rank \d of \d, not "
                          rf"finished after (\d+)\.\d+ s, in step (\d+); rank 1 on \S+ does not answer; the last "
                          r"complete checkpoint is \S+/checkpoints/step_(\d+)", told)
        assert found and 8 <= int(found[2]) < 60 and int(found[3]) >= int(found[4]), told
        in_place = in_place and re.fullmatch(label, found[1]) is not None
    assert "resumed from" in runs.train(name, 2, 8, int(found[4]) + 3, every=5, more=("--resume", *more))
    return in_place


def lost_rank(runs):
    """A rank is killed: within the deadline, the others print its number and their collective."""
    without(runs, "lost", signal.SIGKILL, "--set", "statistics.evaluate_every=0")


def lost_in_evaluation(runs):
    """The same during an evaluation, which here takes more time than a step."""
    more = ("batch.global=3", "batch.micro=1", "statistics.evaluate_every=1", "statistics.evaluate_sequences=10000")
    lost_within(runs, "evaluation", [word for setting in more for word in ("--set", setting)], "bellwether::app::evaluation_sums")


def lost_in_checkpoint(runs):
    """The same while checkpoints are written, which takes most of the time here."""
    more = ("batch.global=3", "batch.micro=1", "checkpoint.every=1", "checkpoint.asynchronous=false", "statistics.evaluate_every=0")
    lost_within(runs, "checkpoint", [word for setting in more for word in ("--set", setting)],
                r"bellwether::checkpoint::\w+|bellwether::app::(count_faults|find_fault|text|text_size)",
                lambda folder: any(folder.glob("checkpoints/step_*.part")))


def lost_within(runs, name, more, label, moment=lambda folder: True):
    """Hitting the moment needs luck: tries more than once; every attempt must end correctly."""
    assert any(without(runs, f"{name}_{attempt}", signal.SIGKILL, *more, label=label, moment=moment) for attempt in range(8))


def lost_from_node(runs):
    """The same after the freeze, with intra-node and inter-node exchanges."""
    nodes = ("--set", "comm.hierarchy=node", "--set", "comm.ranks_per_node=2", "--set", "statistics.evaluate_every=0")
    without(runs, "nodes", signal.SIGKILL, *ONEBIT, *nodes, ranks=4)


def stopped_rank(runs):
    """A rank is suspended, like on a host that swaps or hangs: the same, and its process is ended, too."""
    without(runs, "stopped", signal.SIGSTOP, "--set", "statistics.evaluate_every=0")


def suspended_job(runs):
    """A whole job is suspended for longer than the deadline, as by `scontrol suspend`, and continues. The pause counts
    neither for the deadline nor for the time of a step, nor as a reason to expect slow steps."""
    runs.deck("paused", 8, 1000000)
    command = runs.command("paused", 2, "--set", "comm.deadline=4", "--set", "checkpoint.every=0", "--set", "statistics.print_every=1",
                           "--set", "statistics.every=1", "--set", "statistics.evaluate_every=0", "--set", "run.walltime=0:10:00")
    pause = 12

    def suspend(job):
        every = ranks_of(job, 2)
        for rank in every:
            os.kill(rank, signal.SIGSTOP)
        time.sleep(pause)
        os.kill(every[1], signal.SIGCONT)
        time.sleep(0.5)  # ranks continue one after another
        os.kill(every[0], signal.SIGCONT)
        resumed = time.monotonic()
        for _ in job.stdout:  # lines keep coming as long as both make steps
            if time.monotonic() > resumed + 6:
                break
        job.send_signal(signal.SIGUSR1)

    told, code = runs.stop(command, suspend)
    assert code == 85 and "stopped at step" in told and "by a signal" in told, (code, told)
    steps = runs.table("paused")
    assert steps["step_seconds"].max() < pause - 2 and steps["wall_seconds"][-1] >= steps["step_seconds"].sum() - 1e-6, steps["step_seconds"].max()


def within_call(runs, name, call, count, sent, *more):
    """Returns what ranks print when rank 1 of 3 gets a signal that it cannot handle on entry to an MPI call."""
    if not runs.has_openmpi_4():
        print("skipped: this launcher ends all ranks with the first")
        sys.exit(4)
    runs.deck(name, 8, 2)
    command = runs.command(name, 3, "--set", "comm.deadline=6", *more)
    command.insert(1, "--enable-recovery")
    environment = preloaded(sys.argv[5], FAILING_RANK="1", FAILING_CALL=call, FAILING_COUNT=str(count), FAILING_SIGNAL=str(int(sent)),
                            BELLWETHER_START_DEADLINE="6")
    with subprocess.Popen(command, cwd=runs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **environment)) as process:
        every = []
        while not every and process.poll() is None:
            try:
                every = ranks_of(process, 3)
            except (AssertionError, FileNotFoundError):
                time.sleep(0.05)  # not all of them were started
        told, errors = process.communicate(timeout=PATIENCE)
    deadline = time.time() + 30
    while not all(gone(rank) for rank in every):
        assert time.time() < deadline, "a rank outlives its job"
        time.sleep(0.1)
    return told, errors


def stopped_start(runs):
    """A rank dies or hangs while MPI creates groups of ranks; no collective timeout of ours covers this."""
    nodes = (*ONEBIT, "--set", "comm.hierarchy=node", "--set", "comm.ranks_per_node=1")
    for name, call, count, sent, said in (("nodes", "MPI_Comm_split_type", 1, signal.SIGSTOP, "finding nodes by MPI_Comm_split_type"),
                                          ("copy", "MPI_Comm_dup", 1, signal.SIGSTOP, "MPI_Comm_dup"),
                                          ("groups", "MPI_Comm_split", 1, signal.SIGSTOP, "MPI_Comm_split"),
                                          ("killed", "MPI_Comm_split", 1, signal.SIGKILL, "MPI_Comm_split")):
        told, errors = within_call(runs, name, call, count, sent, *nodes)
        others = r", in step 0; rank 1 on \S+ does not answer" if said == "MPI_Comm_split" else ""
        for rank in (0, 2):
            assert re.search(rf"^\[rank {rank}\] error: timeout: {said} at start-up, not finished after 6 s{others}$", errors,
                             re.MULTILINE), (name, told, errors)
        assert "step 1/" not in told, told


def stopped_end(runs):
    """A rank hangs in MPI_Finalize: nothing is lost, all ranks end, and the next job continues."""
    for name, call, count in (("freed", "MPI_Comm_free", 2), ("end", "MPI_Finalize", 1)):
        told, errors = within_call(runs, name, call, count, signal.SIGSTOP)
        assert "finished at step 2" in told, (told, errors)
        for rank in (0, 2):
            assert re.search(rf"^\[rank {rank}\] warning: timeout: (MPI_Comm_free|MPI_Finalize) at the end, not finished after 6 s(, in step 2; "
                             r"rank 1 on \S+ does not answer)?; nothing is lost$", errors, re.MULTILINE), (name, told, errors)
        assert "error: " not in errors, errors
        assert "resumed from" in runs.train(name, 3, 8, 3, more=("--resume",))


if __name__ == "__main__":
    main(globals())
