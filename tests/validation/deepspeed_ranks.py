# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs DeepSpeed's 1-bit optimizers on recorded gradients on the CPU, one process per rank.

Unmodified code of DeepSpeed: the classes OnebitLamb and OnebitAdam, the compressed mean (NcclBackend with
CupyBackend, the default), deepspeed.comm over torch.distributed with gloo. Replaced here:
- `cupy`, which needs a GPU: a module with the few functions that are called, implemented with NumPy.
- all_gather: gloo requires the 0-dimensional scale in the shape of its receivers. It also records the scales.
- The engine around the optimizer: the mean of gradients, until the optimizer switches it off, and the first step on
  zero gradients that the mixed-precision wrappers make.
"""
import contextlib
import copy
import itertools
import multiprocessing
import os
import pathlib
import pickle
import sys
import tempfile
import types

import numpy as np
import torch


def numpy_as_cupy():
    def nothing(*_):
        return types.SimpleNamespace(use=lambda: None, synchronize=lambda: None)

    module = types.ModuleType("cupy")
    module.cuda = types.SimpleNamespace(Device=nothing, get_current_stream=nothing)
    module.from_dlpack = lambda capsule: torch.utils.dlpack.from_dlpack(capsule).numpy()
    for name in ("packbits", "unpackbits", "split", "zeros"):
        setattr(module, name, getattr(np, name))
    return module


def import_deepspeed(folder):
    """Imports DeepSpeed and returns its version. folder: an unpacked source archive or site-packages with deepspeed."""
    os.environ["DS_ACCELERATOR"] = "cpu"
    sys.path.insert(0, str(folder))
    sys.modules["cupy"] = numpy_as_cupy()
    import deepspeed
    return deepspeed.__version__.strip()


class Engine:
    """The attributes of DeepSpeed's engine that the optimizers read and write."""

    mpu = None
    local_rank = 0
    enable_backward_allreduce = True


class Scales:
    """Replaces deepspeed.comm.all_gather. Records the scales: of workers, of servers, of workers, and so on."""

    def __init__(self, original):
        self.original, self.seen = original, []

    def __call__(self, received, sent, group=None, **others):
        result = self.original(received, sent.reshape(received[0].shape), group=group, **others)
        if sent.dtype == torch.float32:
            self.seen.append([float(scale) for scale in received])
        return result


def build(job, engine):
    """Returns the optimizer and its parameters, one group per tensor. Each list in job["flat"] becomes one flat
    vector, as the mixed-precision wrapper passes it to Adam."""
    from deepspeed.runtime.fp16.onebit.adam import OnebitAdam
    from deepspeed.runtime.fp16.onebit.lamb import OnebitLamb

    groups = []
    for members in job["flat"] or [[l] for l in range(len(job["tensors"]))]:
        tensors = [job["tensors"][l] for l in members]
        data = np.concatenate([tensor["initial"] for tensor in tensors])
        parameter = torch.nn.Parameter(torch.from_numpy(data))
        group = dict(params=[parameter], weight_decay=tensors[0]["weight_decay"])
        if tensors[0].get("dead"):
            group["exp_avg_mask"] = torch.ones(len(data))
            group["exp_avg_mask"][tensors[0]["dead"]] = 0
        groups.append(group)
    kind = dict(onebit_lamb=OnebitLamb, onebit_adam=OnebitAdam)[job["name"]]
    optimizer = kind(groups, deepspeed=engine, bias_correction=False, **job["settings"])
    return optimizer, [group["params"][0] for group in groups]


def snapshot(optimizer, parameters, scales):
    """Returns the state after a step: flat vectors over all parameters, and numbers per parameter."""
    states = [optimizer.state[p] for p in parameters]
    flat = lambda tensors: torch.cat([t.detach().flatten() for t in tensors]).numpy().copy()
    errors = lambda kind: getattr(optimizer, kind + "s", None) or [s[kind] for s in states if kind in s]
    squares = lambda kind: float(sum(e.double().pow(2).sum() for e in errors(kind)))
    result = dict(parameters=flat(parameters), worker_scales=scales[0::2], server_scales=scales[1::2],
                  worker_error_squared_norm=squares("worker_error"),
                  server_error_squared_norm=squares("server_error"))
    for ours, theirs in dict(momentum="exp_avg", variance="exp_avg_sq", fresh_variance="exp_avg_sq_fresh").items():
        if all(theirs in s for s in states):
            result[ours] = flat([s[theirs] for s in states])
    if hasattr(optimizer, "lamb_coeffs"):
        result.update(coefficient=list(optimizer.lamb_coeffs), average=[s["lamb_coeff_freeze"] for s in states],
                      factor=[s["last_factor"] for s in states])
    return result


def feed(parameters, vector):
    """Splits a flat gradient (n) into the gradients of the parameters."""
    parts = np.split(vector, np.cumsum([p.numel() for p in parameters])[:-1])
    for p, part in zip(parameters, parts):
        p.grad = torch.from_numpy(part.astype(np.float32))


def run_job(job, rank, scales):
    """Returns snapshots after each step. If the optimizer fails, the last one is the text of the error."""
    engine, steps = Engine(), []
    optimizer, parameters = build(job, engine)
    if job["first_step_on_zeros"]:
        feed(parameters, np.zeros_like(job["gradients"][0][0]))
        optimizer.step()
    for t, (ranks, rate) in enumerate(zip(job["gradients"], job["learning_rates"]), start=1):
        for group in optimizer.param_groups:
            group["lr"] = rate
        mean = sum(ranks[1:], start=ranks[0]) / np.float32(len(ranks))
        feed(parameters, mean if engine.enable_backward_allreduce else ranks[rank])
        scales.seen.clear()
        try:
            optimizer.step()
        except ArithmeticError as error:
            steps.append(f"{type(error).__name__}: {error}")
            break
        if t in job["load_after"]:
            optimizer.freeze_step = job["load_after"][t] or optimizer.freeze_step
            optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        steps.append(snapshot(optimizer, parameters, list(scales.seen)))
    return steps


def run_rank(rank, size, jobs, folder):
    import deepspeed.comm as comm

    torch.set_num_threads(1)
    scales = Scales(comm.all_gather)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK="0")
        comm.init_distributed(dist_backend="gloo", auto_mpi_discovery=False, verbose=False, rank=rank, world_size=size,
                              init_method=f"file://{folder}/rendezvous")
        comm.all_gather = scales
        results = {name: run_job(job, rank, scales) for name, job in jobs.items()}
    (folder / f"{rank}.pickle").write_bytes(pickle.dumps(results))
    torch.distributed.destroy_process_group()


def run_jobs(jobs, size):
    """Returns snapshots [ranks][steps] of each job, with the keys of jobs. A job has name, settings (of the class),
    tensors (as in replay, fp32 arrays), flat (None or lists of tensors), gradients [steps][ranks](n), learning_rates,
    first_step_on_zeros, load_after {step: freeze_step of the optimizer that loads, None for the same}."""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ranks = [context.Process(target=run_rank, args=(rank, size, jobs, folder)) for rank in range(size)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
        if any(process.exitcode for process in ranks):
            sys.exit("a rank of DeepSpeed failed")
        results = [pickle.loads((folder / f"{rank}.pickle").read_bytes()) for rank in range(size)]
    for job, (first, other) in itertools.product(jobs, itertools.combinations(results, 2)):
        for a, b in zip(first[job], other[job]):
            assert isinstance(a, str) or np.array_equal(a["parameters"], b["parameters"]), f"{job}: ranks differ"
    return {job: [result[job] for result in results] for job in jobs}
