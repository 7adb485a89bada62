#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Seconds of PyTorch's sum of a vector over the processes of one machine by gloo, beside `bellwether bench collectives`.

    pip install torch
    gloo_mean.py RANKS [ELEMENTS=115343360]

One thread a process. Ends with 1 where a sum is wrong.
"""

import os
import statistics
import sys
import time

import torch
from torch import distributed, multiprocessing

CALLS, LEFT_OUT = 6, 2


def sum_up(rank, ranks, elements):
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
        counted = seconds[LEFT_OUT:]
        print(f"{ranks} ranks, {elements} floats: {statistics.median(counted):.3f} s ({min(counted):.3f} to {max(counted):.3f})")
    distributed.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    multiprocessing.spawn(sum_up, args=(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 115343360),
                          nprocs=int(sys.argv[1]))
