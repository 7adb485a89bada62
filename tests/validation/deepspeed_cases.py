# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recorded gradients from formulas, as jobs for DeepSpeed's optimizers and as input of build/tests/replay."""
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

FREEZE, STEPS = 12, 30
# name, elements, magnitude of the values, weight decay, magnitude of the gradients
TENSORS = [("embedding", 460, 0.4, 0.3, 0.02), ("query", 384, 0.1, 0.1, 0.3), ("dense", 247, 0.02, 0.01, 1.0),
           ("bias", 37, 0.0, 0.0, 0.1), ("norm", 24, 1.5, 0.0, 0.05)]
# Our name and DeepSpeed's name.
KEYS = dict(betas="betas", epsilon="eps", coefficient_beta="coeff_beta", min_coefficient="min_coeff",
            max_coefficient="max_coeff", factor_min="factor_min", factor_max="factor_max",
            factor_threshold="factor_threshold")
LAMB = dict(betas=[0.9, 0.99], epsilon=1e-8, coefficient_beta=0.9, min_coefficient=0.01, max_coefficient=0.3,
            factor_min=0.5, factor_max=4.0, factor_threshold=0.1)
ADAM = dict(betas=[0.9, 0.99], epsilon=1e-8)


class Case:
    """One optimizer over one set of recorded gradients, for both programs."""

    def __init__(self, name, ranks, settings, tensors=TENSORS, decay=None, flat=None, dead=(),
                 silent_until=0, **job):
        """decay: weight decay of all tensors; dead: indices of masked elements of tensor 0, without gradient;
        silent_until: first step in which tensor 3 has a gradient; flat, job: see deepspeed_ranks."""
        self.name, self.ranks, self.settings, self.flat = name, ranks, settings, flat
        self.tensors = []
        for tensor, count, height, own_decay, _ in tensors:
            initial = (height * np.sin(0.37 * np.arange(count) + 1)).astype(np.float32)
            self.tensors.append(dict(name=tensor, initial=initial,
                                     weight_decay=own_decay if decay is None else decay))
        if dead:
            self.tensors[0]["dead"] = list(dead)
        self.rates = [0.05 * (1 - 0.01 * t) for t in range(STEPS)]
        self.gradients = [[self.gradient(tensors, t, rank, dead, silent_until) for rank in range(ranks)]
                          for t in range(1, STEPS + 1)]
        self.job = {"first_step_on_zeros": True, "load_after": {}, "freeze_step": FREEZE + 1, **job}

    def gradient(self, tensors, t, rank, dead, silent_until):
        """Returns (n): a signal common to all ranks, plus equally large noise per rank from the digits of a sine."""
        parts = []
        for l, (_, count, _, _, height) in enumerate(tensors):
            k = np.arange(count)
            noise = np.modf(np.abs(np.sin(12.9898 * k + 78.233 * t + 37.719 * rank + 5.1 * l) * 43758.5453))[0] - 0.5
            part = height * (np.sin(0.7 * t + k) * (0.2 + np.cos(1.7 * k) ** 2) + 2 * noise)
            if l == 0:
                part[list(dead)] = 0
            parts.append(part * (l != 3 or t >= silent_until))
        return np.concatenate(parts).astype(np.float32)

    def theirs(self):
        settings = {KEYS[key]: value for key, value in self.settings.items()}
        job = {key: value for key, value in self.job.items() if key != "freeze_step"}
        return dict(name=self.name, settings=dict(freeze_step=self.job["freeze_step"], **settings), flat=self.flat,
                    tensors=self.tensors, gradients=self.gradients, learning_rates=self.rates, **job)

    def split(self, vector):
        return np.split(np.asarray(vector), np.cumsum([len(t["initial"]) for t in self.tensors])[:-1])

    def ours(self, program, steps=STEPS):
        """Returns the output of replay for the first steps."""
        document = dict(
            optimizer=dict(name=self.name, freeze=dict(step=FREEZE), **self.settings),
            tensors=[{**tensor, "initial": tensor["initial"].tolist()} for tensor in self.tensors],
            learning_rates=self.rates[:steps],
            gradients=[[[part.tolist() for part in self.split(g)] for g in ranks] for ranks in self.gradients[:steps]])
        with tempfile.TemporaryDirectory() as name:
            given, result = pathlib.Path(name, "in.json"), pathlib.Path(name, "out.json")
            given.write_text(json.dumps(document))
            environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", KOKKOS_DISABLE_WARNINGS="1")
            subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(self.ranks), program, given,
                            result], check=True, env=environment, stdout=subprocess.DEVNULL)
            return json.loads(result.read_text())
