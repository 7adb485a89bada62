# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what `bellwether bench` prints and writes, not how fast anything is.

    bench_runs.py CASE PROGRAM MPIRUN TOOL      CASE: collectives | optimizer | kernels | huge_pages | step |
                                                      checkpoint | interrupted | tools | refusals

Exits with 4 (skipped for ctest) if the system has no huge pages."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 600  # seconds


class Bench:
    def __init__(self, program, mpirun, tool, folder):
        self.program, self.mpirun, self.tool, self.folder = program, mpirun, tool, pathlib.Path(folder)

    def call(self, ranks, *arguments, expected=0):
        launch = [self.mpirun, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, self.program, "bench", *arguments], cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        assert done.returncode == expected, f"{arguments}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout if expected == 0 else done.stderr

    def results(self, ranks, *arguments):
        """Returns the results in the file; checks that the table contains them, too."""
        table = self.call(ranks, *arguments, "--json", "out.json")
        document = json.loads((self.folder / "out.json").read_text())
        assert document["machine"]["ranks"] == ranks and document["bench"] == arguments[0], document
        checks = [check for row in document["results"] for check in row["checks"]]
        assert checks and all(check["holds"] for check in checks), checks
        assert table.count("holds: ") == len(checks), table
        return document


def collectives(bench):
    for ranks in (1, 2, 3):
        document = bench.results(ranks, "collectives", "--elements", "70,5000,8Ki", "--calls", "3", "--warmup", "2")
        rows = document["results"]
        assert [row["elements"] for row in rows] == [70] * 5 + [5000] * 5 + [8192] * 5
        for dense, half, library, blocking, bits in zip(*(rows[first::5] for first in range(5))):
            assert [row["collective"] for row in (library, blocking)] == ["dense mean, library", "by MPI_Allreduce"]
            # No library promises equal bits, so this is not checked.
            assert len(library["checks"]) == len(blocking["checks"]) == 1, (library, blocking)
            assert any("oracle O8" in check["claim"] for check in bits["checks"]), bits
            if ranks == 1:
                assert all(row["sent_bytes"] == 0 for row in (dense, half, library, blocking, bits))
                continue
            assert library["sent_bytes"] == blocking["sent_bytes"] == 4 * library["elements"], library
            assert dense["sent_bytes"] == 2 * half["sent_bytes"]
            words = -(-dense["elements"] // (32 * ranks))
            assert bits["sent_bytes"] == 8 * (ranks - 1) * (words + 1), bits
            latency = dense["latency_seconds"]
            assert 0 < latency["fastest"] <= latency["median"] <= latency["slowest"]
            speed = 4 * dense["elements"] / latency["median"]
            assert abs(dense["algorithm_bytes_per_second"] / speed - 1) < 1e-9
            assert abs(dense["bus_bytes_per_second"] / (speed * 2 * (ranks - 1) / ranks) - 1) < 1e-9


def optimizer(bench):
    for ranks in (1, 2):
        document = bench.results(ranks, "optimizer", "--model", "tiny", "--calls", "1", "--warmup", "1")
        phases = [(row["method"], row["phase"]) for row in document["results"]]
        assert phases == [("lamb", "dense"), ("adamw", "dense"), ("sgd", "dense"), ("onebit_lamb", "dense"),
                          ("onebit_lamb", "after the freeze"), ("onebit_adam", "dense"),
                          ("onebit_adam", "after the freeze"), ("onebit_sgd", "dense"),
                          ("onebit_sgd", "after the freeze")], phases
        n = document["parameters"]
        for row in document["results"]:
            least = sum(kernel["least_bytes_an_element"] for kernel in row["kernels"])
            assert abs(row["bound_seconds"] / (least * n / row["triad_bytes_per_second"]) - 1) < 1e-9, row
            # Every kernel in the table must have run: a renamed one would show 0 s.
            assert all(kernel["seconds"] > 0 for kernel in row["kernels"] if kernel["moved_bytes_an_element"] > 0), row
            assert row["state_bytes"] > 4 * n
            specified = row["method"] == "onebit_lamb" and row["phase"] == "after the freeze"
            assert specified == ("specified_bytes_an_element" in row), row
            if specified:
                bytes_an_element = 44.625 + ((8 + ranks / 8 + 1 / 8) / ranks if ranks > 1 else 0)
                seconds = bytes_an_element * n / row["triad_bytes_per_second"]
                assert abs(row["specified_bytes_an_element"] - bytes_an_element) < 1e-9, row
                assert abs(row["over_specified"] * seconds / row["step_seconds"]["median"] - 1) < 1e-9, row
        checked = [check["claim"] for check in document["results"][3]["checks"]]
        assert "the same parameters as lamb, bit for bit" in checked, checked
    document = bench.results(2, "optimizer", "--method", "onebit_adam", "--calls", "1", "--warmup", "1", "--timeline")
    dense, compressed = document["results"]
    assert "timeline" not in dense, dense
    rows = compressed["timeline"]
    assert len(rows) > 2 and sum(row["elements"] for row in rows) == document["parameters"], rows
    for row in rows:
        assert 0 < row["sent"] <= row["received"] <= row["passed_on"] <= row["finished"], row
    for earlier, later in zip(rows, rows[1:]):
        assert all(earlier[what] <= later[what] for what in ("sent", "received", "passed_on", "finished")), rows
    assert rows[-1]["sent"] <= rows[0]["passed_on"] and rows[-1]["finished"] <= compressed["step_seconds"]["slowest"], compressed
    one = bench.results(1, "optimizer", "--method", "onebit_adam", "--calls", "1", "--warmup", "1")["results"]
    assert [row["method"] for row in one] == ["onebit_adam"] * 2


def kernels(bench):
    for ranks in (1, 2):
        # Sizes that fill neither words nor blocks, and one with fewer elements than serving ranks.
        document = bench.results(ranks, "kernels", "--elements", "3,5000,70001", "--calls", "3", "--warmup", "1")
        rows = document["results"]
        assert [row["elements"] for row in rows if row["by"] == "1 thread"] == [3, 5000, 70001], rows
        for row in rows:
            speeds = {kernel["kernel"]: kernel for kernel in row["kernels"]}
            assert len(speeds) == len(row["kernels"]) and len(row["checks"]) == 5, row
            copies = [kernel["bytes_per_second"] for name, kernel in speeds.items() if name.startswith("copy, ")]
            assert len(copies) == 2 and speeds["triad"]["least_bytes_an_element"] == 12, row
            for name in ("pack: sign_words", "unpack: Decoded"):
                assert speeds[name]["least_bytes_an_element"] == 4.125 and speeds[name]["elements"] == row["elements"]
            for kernel in row["kernels"]:
                seconds = kernel["call_seconds"]
                assert 0 < seconds["fastest"] <= seconds["median"] <= seconds["slowest"], kernel
                speed = kernel["least_bytes_an_element"] * kernel["elements"] / seconds["median"]
                assert abs(kernel["bytes_per_second"] - speed) <= 1e-9 * speed, kernel
                assert abs(kernel["over_copy"] * max(copies) - speed) <= 1e-9 * speed, kernel


def huge_pages(bench):
    """Vectors lie on huge pages if the system grants them on request."""
    setting = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[never]" in setting.read_text():
        print("skipped: no transparent huge pages here")
        sys.exit(4)
    process = subprocess.Popen([bench.program, "bench", "kernels", "--elements", "16Mi", "--calls", "1000"],
                               stdout=subprocess.DEVNULL)
    mapped = 0
    for _ in range(PATIENCE * 10):
        memory = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        mapped = int(memory.split("AnonHugePages:")[1].split()[0])  # KiB
        if mapped > 128 * 1024 or process.poll() is not None:
            break
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert mapped > 128 * 1024, f"{mapped} KiB on huge pages; three vectors have 192 MiB"


def step(bench):
    sequences, length, layers, hidden = 3, 16, 2, 128
    for ranks in (1, 2):
        document = bench.results(ranks, "step", "--model", "tiny", "--sequences", str(sequences), "--length", str(length),
                                 "--masked", "3", "--calls", "2", "--warmup", "2", "--profile")
        rows = document["results"]
        assert [row["compute"] for row in rows] == ["fp32", "bf16"]
        assert rows[1]["workspace_bytes"] < rows[0]["workspace_bytes"] + 2 * 4.5e6  # a copy of the parameters
        for row in rows:
            seconds = row["step_seconds"]["median"]
            assert abs(row["tokens_per_second"] * seconds / (ranks * sequences * length) - 1) < 1e-9
            # Every product must have run with its shape; the only exceptions are those of attention.
            products = sum(2 * p["m"] * p["n"] * p["k"] * p["calls"] for p in row["products"])
            attention = 3 * layers * 4 * hidden * sequences * length**2
            assert abs((products + attention) * ranks / (row["flops_per_second"] * seconds) - 1) < 1e-9, (products, row)
            assert abs(sum(p["alone_seconds"] for p in row["products"]) / row["products_bound_seconds"] - 1) < 1e-9
            for p in row["products"]:
                assert abs(p["alone_flops_per_second"] * p["alone_seconds"] / (2 * p["m"] * p["n"] * p["k"] * p["calls"]) - 1) < 1e-9
            known = [kernel["label"] for kernel in row["kernels"]]
            assert "bellwether::model::attention_backward" in known and "bellwether::core::gemm" not in known, known
            parts = sum(part["seconds"] for part in row["products"] + row["kernels"])
            assert 0 < parts < row["profiled_step_seconds"], row
    line = bench.results(3, "step", "--compute", "fp32", "--sequences", str(sequences), "--length", str(length), "--masked", "3",
                         "--calls", "3", "--warmup", "1", "--timeline")["results"][0]["timeline"]
    assert 0 < line["encoder_backward"] < line["backward_end"], line
    bounds = [segment[end] for segment in line["segments"] for end in ("last_element", "first_element")]
    assert len(bounds) > 4 and bounds[1:-1:2] == bounds[2::2] and bounds[-1] == 0, bounds
    assert line["segments"][0]["started"] < line["backward_end"] < line["segments"][-1]["finished"], line
    for kind in ("exposed_seconds", "step_seconds"):
        assert line[kind]["median"] > 0 and line[f"{kind}_without_overlap"]["median"] > 0, line
    one = bench.results(1, "step", "--compute", "bf16", "--sequences", "2", "--length", "16", "--masked", "3", "--method",
                        "lamb", "--calls", "1")["results"]
    assert [row["compute"] for row in one] == ["bf16"] and "products" not in one[0]


def checkpoint(bench):
    for ranks in (1, 2):
        document = bench.results(ranks, "checkpoint", "--model", "tiny", "--calls", "2")
        n = document["parameters"]
        assert document["bytes"] == 4 * n * (3 + 2 * ranks) and document["bytes_of_rank_0"] == 4 * n * 5, document
        copied, waited = document["results"]
        assert copied["asynchronous"] and not waited["asynchronous"]
        for way in (copied, waited):
            assert 0 < way["training_stands_seconds"]["median"] <= way["complete_seconds"]["median"], way
            assert 0 < way["copy_seconds"]["median"] < way["complete_seconds"]["median"], way
        assert not list(bench.folder.glob("bellwether_bench_checkpoint*"))
    error = bench.call(2, "checkpoint", "--model", "tiny", "--directory", "nowhere", expected=2)
    assert "--directory: nowhere/bellwether_bench_checkpoint" in error and error.count("error: ") == 1, error


def interrupted(bench):
    """However `bench checkpoint` ends, its files are removed."""
    for ranks, sent in ((1, signal.SIGTERM), (1, signal.SIGINT), (1, signal.SIGHUP), (1, signal.SIGKILL), (2, signal.SIGTERM)):
        launch = [bench.mpirun, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
        with subprocess.Popen([*launch, bench.program, "bench", "checkpoint", "--model", "tiny", "--calls", "10000"], cwd=bench.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not list(bench.folder.glob("bellwether_bench_checkpoint.*/*/checkpoints/step_*")):
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(sent)
            assert process.wait(timeout=PATIENCE) != 0, (ranks, sent)
        limit = time.monotonic() + PATIENCE
        while list(bench.folder.glob("bellwether_bench_checkpoint*")):
            assert time.monotonic() < limit, (ranks, sent, list(bench.folder.iterdir()))
            time.sleep(0.05)


def tools(bench):
    """A Kokkos tool receives every kernel with its label and every product with its shape."""
    os.environ |= {"KOKKOS_TOOLS_LIBS": bench.tool, "COUNTING_TOOL_FILE": str(bench.folder / "told")}
    bench.results(1, "step", "--model", "tiny", "--compute", "fp32", "--sequences", "2", "--calls", "1", "--warmup", "1")
    told = (bench.folder / "told").read_text().splitlines()
    for label in ("kernel bellwether::model::cross_entropy", "kernel bellwether::optim::adamw_update",
                  "region bellwether::core::gemm m=256 n=512 k=128 nt"):
        assert label in told, (label, sorted(set(told)))
    # This includes the events that the bench itself receives, in every step.
    for arguments, label, calls in ((["optimizer", "--method", "lamb"], "kernel bellwether::optim::lamb_apply", 5),
                                    (["step", "--model", "tiny", "--compute", "fp32", "--sequences", "2", "--profile"],
                                     "kernel bellwether::optim::adamw_update", 9)):
        (bench.folder / "told").unlink()
        bench.results(1, *arguments, "--calls", "4", "--warmup", "1")
        told = (bench.folder / "told").read_text().splitlines()
        assert told.count(label) >= calls, (label, told.count(label))


def refusals(bench):
    (bench.folder / "nodes.yaml").write_text("data: {train: [nowhere]}\ncomm: {hierarchy: node}\n")
    for arguments, told in (([], "one of collectives, optimizer, kernels, step, checkpoint is missing"),
                            (["colectives"], "did you mean 'collectives'?"),
                            (["collectives", "--elements", "1Ti"], "--elements: '1Ti'; allowed: "),
                            (["collectives", "--elements", "0"], "--elements: '0'; allowed: "),
                            (["collectives", "--elements", "1024Gi"], "left; use fewer elements or fewer ranks"),
                            (["kernels", "--elements", "1024Gi"], "left; use fewer elements or fewer ranks"),
                            (["collectives", "--elemnts", "1"], "did you mean '--elements'?"),
                            (["optimizer", "--model", "tniy"], "--model: 'tniy' (did you mean 'tiny'?); one of tiny"),
                            (["optimizer", "--model", "none.yaml"], "none.yaml"),
                            (["optimizer", "--model", "nodes.yaml"], "nodes.yaml: comm.hierarchy: node, but bench"),
                            (["optimizer", "--method", "lam"], "did you mean 'lamb'?"),
                            (["step", "--length", "600"], "--length: 600 tokens, but the model has 512 positions; allowed: at most"),
                            (["step", "--masked", "128"], "--masked: 128 of 128 tokens; allowed: fewer than --length"),
                            (["step", "--compute", "fp16"], "--compute: 'fp16'"),
                            (["step", "--model", "mni"], "--model: 'mni' (did you mean 'mini'?); one of tiny"),
                            (["collectives", "--calls", "0"], "--calls: '0'; allowed: "),
                            (["collectives", "--json", ""], "--json: the value is empty; is a variable of the shell unset?"),
                            (["collectives", "--json", "nowhere/out.json"], "--json: nowhere/out.json")):
        for ranks in (1, 2):
            errors = bench.call(ranks, *arguments, expected=2)
            lines = [line for line in errors.splitlines() if "error: " in line]
            assert len(lines) == 1 and told in lines[0], (arguments, errors)
    files(bench)
    threads(bench)
    for timed in ("step", "optimizer"):
        alone = bench.call(1, timed, "--timeline", expected=2)
        assert alone.count("error: ") == 1 and "--timeline: one rank exchanges nothing; at least 2 are needed" in alone, alone


def threads(bench):
    """More threads than Kokkos supports are one fault for all ranks. Without OpenMP, the number is not checked."""
    few = ["kernels", "--elements", "100", "--calls", "1", "--warmup", "1"]
    os.environ["OMP_NUM_THREADS"] = "2"
    parallel = bench.results(1, *few)["machine"]["threads_a_rank"] > 1
    os.environ["OMP_NUM_THREADS"] = "513"
    for ranks in (1, 2) if parallel else ():
        errors = bench.call(ranks, *few, expected=2)
        assert errors.count("error: ") == 1 and "OMP_NUM_THREADS: 513 threads for a rank" in errors, errors
    if not parallel:
        assert bench.results(1, *few)["machine"]["threads_a_rank"] == 1
    del os.environ["OMP_NUM_THREADS"]


def files(bench):
    """The user's file stays unchanged until there are results. Links stay links, and devices and pipes are written
    to."""
    few = ["kernels", "--elements", "100", "--calls", "1", "--warmup", "1"]
    kept, link = bench.folder / "kept.json", bench.folder / "link.json"
    kept.write_text('{"bench": "old"}')
    bench.call(1, "kernels", "--elements", "1024Gi", "--json", "kept.json", expected=2)
    assert kept.read_text() == '{"bench": "old"}'
    link.symlink_to("kept.json")
    bench.call(1, *few, "--json", "link.json")
    assert link.is_symlink() and json.loads(kept.read_text())["bench"] == "kernels"
    assert '"bench": "kernels"' in bench.call(1, *few, "--json", "/dev/stdout")
    os.mkfifo(bench.folder / "pipe")
    errors = bench.call(1, *few, "--json", "pipe", expected=2)
    assert "--json: pipe: is a pipe that no program reads; start its reader first, or name a file" in errors, errors
    reader = os.open(bench.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    bench.call(1, *few, "--json", "pipe")
    assert json.loads(os.read(reader, 1 << 16))["bench"] == "kernels"
    os.close(reader)
    (bench.folder / "folder").mkdir()
    for wrong in ("folder", "."):
        errors = bench.call(1, *few, "--json", wrong, expected=2)
        assert "is a folder; allowed: a file" in errors, errors
    (bench.folder / "other.json").write_text('{"model": "mine"}')
    errors = bench.call(1, *few, "--json", "other.json", expected=2)
    assert "--json: other.json: exists and is not a result of bench; allowed: a new file, or" in errors, errors
    assert (bench.folder / "other.json").read_text() == '{"model": "mine"}'
    assert not list(bench.folder.glob("*.part"))


def main(cases):
    case, *programs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        cases[case](Bench(*programs, folder))


if __name__ == "__main__":
    main(globals())
