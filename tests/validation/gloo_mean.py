#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Times PyTorch's allreduce with gloo over the processes of one machine, next to `bellwether bench collectives`.

    pip install torch
    source PEERS/pytorch_tuned_env.sh                # huge pages, no trimming: fastest for PyTorch
    gloo_mean.py RANKS [ELEMENTS=115343360] [--beside build/bellwether] [--turns 1] [--json OUT.jsonl]

Each process has one thread, on its own core if there are enough cores. With --beside it alternates with the program's
dense mean in fp32, with the same number of ranks, placement, environment and timed calls. Times of gloo are those of its
first process; times of the program are those of its slowest rank. --json appends a line per turn.

Exits with 1 if a sum is wrong or the program fails.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch
from launch import cores, keep, launched, results_file, told_by
from torch import distributed, multiprocessing

CALLS, LEFT_OUT = 6, 2


def sum_up(rank, ranks, elements, places, counted):
    if places:
        os.sched_setaffinity(0, places[rank])
    torch.set_num_threads(1)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533"}
    distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    vector = torch.empty(elements)
    seconds = []
    for _ in range(CALLS):
        vector.fill_(rank + 1)
        distributed.barrier()
        began = time.perf_counter()
        distributed.all_reduce(vector)
        seconds.append(time.perf_counter() - began)
        if not bool((vector == ranks * (ranks + 1) / 2).all()):
            sys.exit("the sum is wrong")
    if rank == 0:
        counted.put(seconds[LEFT_OUT:])
    distributed.destroy_process_group()


def gloo(ranks, elements):
    """Returns the seconds of each timed call."""
    places = cores() if ranks <= len(cores()) else None
    counted = multiprocessing.get_context("spawn").SimpleQueue()
    multiprocessing.spawn(sum_up, args=(ranks, elements, places, counted), nprocs=ranks)
    return counted.get()


def bellwether(options, folder):
    """Returns the results of the program for its dense mean in fp32."""
    answer = pathlib.Path(folder) / "collectives.json"
    told_by([[*launched(options.mpirun, options.ranks), options.beside, "bench", "collectives", "--elements",
              str(options.elements), "--calls", str(CALLS - LEFT_OUT), "--warmup", str(LEFT_OUT), "--json", str(answer)]],
            dict(os.environ, OMP_NUM_THREADS="1"))
    results = json.loads(answer.read_text(encoding="utf-8"))["results"]
    return next(result for result in results if result["collective"] == "dense mean, fp32")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=int)
    parser.add_argument("elements", type=int, nargs="?", default=115343360)
    parser.add_argument("--beside", metavar="PROGRAM", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--json", type=results_file, help="file to which lines of results are appended")
    options = parser.parse_args()
    if min(options.ranks, options.elements, options.turns) < 1:
        parser.error("RANKS, ELEMENTS and --turns are from 1 on")
    return options


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.turns):
            line = {"ranks": options.ranks, "elements": options.elements, "turn": turn + 1, "torch": torch.__version__}
            if options.beside:
                line["bench"] = bellwether(options, folder)
            line["seconds"] = gloo(options.ranks, options.elements)
            line["median"] = statistics.median(line["seconds"])
            text = f"{options.ranks} ranks, {options.elements} floats: {told(line['seconds'])}"
            if options.beside:
                ours = line["bench"]["latency_seconds"]
                line["ratio"] = line["median"] / ours["median"]
                text += (f" by gloo, {ours['median']:.3f} s ({ours['fastest']:.3f} to {ours['slowest']:.3f}) by bellwether, "
                         f"{line['ratio']:.2f} times as fast")
            print(text, flush=True)
            keep(options.json, line)


def told(seconds):
    return f"{statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f})"


if __name__ == "__main__":
    main()
