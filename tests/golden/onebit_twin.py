# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""The twin: LAMB, 1-bit LAMB, 1-bit Adam and 1-bit SGD with momentum over simulated ranks. The product must agree.

    python onebit_twin.py IN.json OUT.json      needs numpy; same files as build/tests/replay

IN: {"optimizer": {"name", "betas", ..: see DEFAULTS}, "tensors": [{"name", "initial", "weight_decay", "dead"}, ..],
"learning_rates": [of step 1, ..], "gradients": [steps][ranks][tensors][elements]}. A null element is a NaN. `initial`
and `gradients` may be formulas, see onebit_inputs.py. A skipped step consumes its gradients, but no learning rate.
"dead" lists the masked elements, which only weight decay moves.
OUT: see run(). weight_norm: after the step. coefficient: factor of lr u. Scales: a number for each rank with one scale
group, else a list for each rank; 0 if nothing was compressed.

Equations: LAMB (arXiv 1904.00962), 1-bit LAMB (arXiv 2104.06069), 1-bit Adam (arXiv 2102.02888), without bias
correction, epsilon outside the root. Sums are simple loops; no steps are fused.
"""

import json
import math
import pathlib
import sys

import numpy as np

from onebit_decisions import sketch, tensor_sketch
from onebit_inputs import finite, inputs
from onebit_mean import CompressedMean, words

DEFAULTS = dict(betas=[0.9, 0.999], epsilon=1e-8, freeze=dict(step=None), coefficient_beta=0.9, min_coefficient=0.01,
                max_coefficient=0.3, factor_min=0.5, factor_max=4.0, factor_threshold=0.1, exchange="momentum",
                nesterov=False, frozen_variance="whole", steer="variance",
                gradient_limit=0.0, unify=None, scale="rms",
                scale_groups=1, clip=0.0, clip_norm="exact", sketch_columns=16384, sketch_every=1,
                seed=0)


def norm(values):
    return float(np.sqrt(np.sum(values.astype(np.float64) ** 2)))


class Method:
    """State of all ranks. Only the residuals differ between ranks; the rest is stored once. Vectors are flat (n)."""

    unify = "none"
    has_variance = True
    averages = False  # whether coefficients are averaged in the warmup

    def __init__(self, settings, tensors, ranks, real=np.float64):
        unknown = set(settings) - set(DEFAULTS) - {"name"}
        assert not unknown, f"unknown optimizer keys {unknown}"
        self.key = {**DEFAULTS, **settings}
        self.beta1, self.beta2 = self.key["betas"]
        self.epsilon = self.key["epsilon"]
        self.unify = self.key["unify"] or type(self).unify
        self.freeze_step = self.key["freeze"]["step"]  # None: never
        assert self.freeze_step is None or self.freeze_step >= 2
        self.ranks, self.real = ranks, real
        self.decay = [float(tensor.get("weight_decay", 0.0)) for tensor in tensors]
        ends = np.cumsum([len(tensor["initial"]) for tensor in tensors])
        self.parts = [slice(int(end) - len(t["initial"]), int(end)) for t, end in zip(tensors, ends)]
        self.count = int(ends[-1])
        self.x = np.concatenate([np.asarray(tensor["initial"], dtype=real) for tensor in tensors])
        self.m, self.v, self.f = (np.zeros(self.count, dtype=real) for _ in range(3))
        self.active = np.ones(self.count, dtype=bool)
        for part, tensor in zip(self.parts, tensors):
            self.active[part][tensor.get("dead", [])] = False
        self.average = [0.0] * len(tensors)
        self.samples = [0] * len(tensors)
        self.factor = [1.0] * len(tensors)
        self.s = None  # (n) factor that brings all elements to one magnitude
        self.sums = None  # of the variance at the freeze, by tensor
        self.growth = [1.0] * len(tensors)  # of these sums since the freeze
        self.exchange = None
        self.proportion = 1.0  # square of the last sketch's norm over the mean square of the ranks' norms
        self.t = 0

    # -- one step ----------------------------------------------------------------------------------------------------

    def step(self, gradients, rate):
        """Makes a step. gradients: (ranks)(n); rate: its learning rate. Returns the step's record."""
        compressed = self.freeze_step is not None and self.t >= self.freeze_step
        record = dict(phase="compressed" if compressed else "warmup")
        if not all(np.all(np.isfinite(g)) for g in gradients):
            return {**record, "skipped": True}
        clip = self.clip_factor(gradients, compressed)
        gradients = [self.real(clip) * g for g in gradients]
        self.t += 1
        if compressed:
            if self.exchange is None:
                self.enter_compressed_phase()
            self.grow(gradients)
            done, coefficient = self.compressed_step(gradients, rate)
            record.update(self.describe(done))
            record["bytes_sent"] = [self.exchange.bytes_sent()] * self.ranks
        else:
            total = np.zeros(self.count, dtype=self.real)
            for g in gradients:
                total = total + g
            coefficient = self.warmup_step(total / self.ranks, rate)
            record.update(worker_scale=[0.0] * self.ranks, server_scale=[0.0] * self.ranks)
            record["bytes_sent"] = self.dense_bytes()
            if self.t == self.freeze_step:
                self.f = self.v.copy()
        if self.key["clip"] > 0:
            record["clip_factor"] = clip
        return {**record, "coefficient": coefficient, "average": list(self.average), "factor": list(self.factor),
                "weight_norm": [norm(self.x[part]) for part in self.parts]}

    def clip_factor(self, gradients, compressed):
        """Returns min(1, limit / norm of the mean gradient). In the compressed phase the norm may be an estimate."""
        limit, rule = self.key["clip"], self.key["clip_norm"]
        if limit == 0:
            return 1.0
        mean = sum(g.astype(np.float64) for g in gradients) / self.ranks
        length = norm(mean)
        local = sum(norm(g) ** 2 for g in gradients) / self.ranks
        if compressed and rule == "sketch" and (self.t - self.freeze_step) % self.key["sketch_every"] != 0:
            length = math.sqrt(self.proportion * local)
        elif compressed and rule == "sketch":
            sketches = [sketch(g, self.key["seed"], self.t + 1, self.key["sketch_columns"]) for g in gradients]
            length = norm(sum(sketches) / self.ranks)
            self.proportion = length ** 2 / local
        elif compressed and rule == "local_rms":
            length = math.sqrt(local)
        return limit / length if length > limit else 1.0

    def dense_bytes(self):
        """Returns the bytes of the ordered mean in fp32: a rank sends all other chunks, then its own to all others."""
        first = [self.count * rank // self.ranks for rank in range(self.ranks + 1)]
        mine = [first[rank + 1] - first[rank] for rank in range(self.ranks)]
        return [4 * ((self.count - own) + (self.ranks - 1) * own) for own in mine]

    def describe(self, done):
        single = self.key["scale_groups"] == 1
        pick = (lambda scales: scales[0] if scales else 0.0) if single else list
        active = int(np.sum(self.active))
        agreement = [int(np.sum((signs == done.signs) & self.active)) / max(active, 1) for signs in done.worker_signs]
        return dict(worker_scale=[pick(s) for s in done.worker_scale],
                    server_scale=[pick(s) for s in done.server_scale],
                    signs=words(done.signs, self.active) if self.ranks > 1 else "",
                    sign_agreement=sum(agreement) / self.ranks if self.ranks > 1 else None,
                    margin=min(done.worker_margin, done.server_margin))

    # -- the freeze --------------------------------------------------------------------------------------------------

    def enter_compressed_phase(self):
        """Runs once: masks elements without variance, sets the units, and sets residuals to zero."""
        if self.has_variance:
            self.active = self.active & (self.v > 0)
            self.m = np.where(self.active, self.m, 0).astype(self.real)
        self.s = np.ones(self.count, dtype=self.real)
        self.sums = [float(np.sum(self.v[part], where=self.active[part], dtype=np.float64)) for part in self.parts]
        if self.unify == "layer":
            root = []
            for part in self.parts:
                m = self.m[part][self.active[part]].astype(np.float64)
                root.append(float(np.sqrt(np.mean(m * m))) if m.size else 0.0)
            counted = [q for q in root if q > 0]
            for part, q in zip(self.parts, root):
                if q > 0:
                    self.s[part] = sum(counted) / len(counted) / q
        self.exchange = CompressedMean(self.ranks, self.active, self.key["scale"], self.key["scale_groups"], self.real)
        for l, samples in enumerate(self.samples):
            if samples == 0 and self.averages:
                self.average[l] = min(1.0, self.key["max_coefficient"])

    def root(self, l):
        """Returns the root of the frozen variance of tensor l, times its growth, plus epsilon."""
        return self.real(math.sqrt(self.growth[l])) * np.sqrt(self.v[self.parts[l]]) + self.real(self.epsilon)

    def grow(self, gradients):
        """Updates the sums of the variance, with frozen_variance "shape", and the units with unify "element"."""
        for l, part in enumerate(self.parts):
            if self.key["frozen_variance"] == "shape" and self.sums[l] > 0:
                sketches = [tensor_sketch(np.where(self.active[part], g[part], 0), self.key["seed"], self.t, part.start)
                            for g in gradients]
                square = norm(sum(sketches) / self.ranks) ** 2
                self.growth[l] = self.beta2 * self.growth[l] + (1 - self.beta2) * square / self.sums[l]
            if self.unify == "element":
                self.s[part] = np.where(self.active[part], 1 / self.root(l), 1)

    def next_momentum(self, gradients):
        """Computes the shared momentum from the compressed mean of all ranks' gradients or momenta."""
        if self.unify == "element" and self.key["gradient_limit"] > 0:
            # the bound that an updated variance sets for the mean gradient, times sqrt(ranks) for the noise of one rank
            bound = self.key["gradient_limit"] * math.sqrt(self.ranks / (1 - self.beta2)) / self.s
            gradients = [np.clip(g, -bound, bound).astype(self.real) for g in gradients]
        after = lambda g: (self.beta1 * self.m + (1 - self.beta1) * g).astype(self.real)
        early = self.key["exchange"] == "momentum"
        done = self.exchange.mean([self.s * (after(g) if early else g) for g in gradients])
        mean = np.where(self.active, done.output / self.s, 0).astype(self.real)
        return done, mean if early else np.where(self.active, after(mean), 0).astype(self.real)

    def led(self, l, before):
        """Returns the momentum of tensor l for the update after the freeze. before: momentum of the step before."""
        now = self.m[self.parts[l]]
        return now + self.beta1 * (now - before[self.parts[l]]) if self.key["nesterov"] else now

    def adam_moments(self, g):
        self.m = self.beta1 * self.m + (1 - self.beta1) * g
        self.v = self.beta2 * self.v + (1 - self.beta2) * g * g


class Lamb(Method):
    """The update is m / (sqrt(v) + eps) + decay x, times a clamped trust ratio for each tensor."""

    def trust_ratio(self, x, u):
        if norm(x) == 0 or norm(u) == 0:
            return 1.0
        return min(max(norm(x) / norm(u), self.key["min_coefficient"]), self.key["max_coefficient"])

    def warmup_step(self, g, rate):
        self.adam_moments(g)
        coefficients = []
        for l, part in enumerate(self.parts):
            x = self.x[part]
            u = self.m[part] / (np.sqrt(self.v[part]) + self.epsilon) + self.decay[l] * x
            c = self.trust_ratio(x, u)
            if self.averages and norm(x) > 0 and norm(u) > 0:
                beta = self.key["coefficient_beta"]
                self.average[l] = beta * self.average[l] + (1 - beta) * c
                self.samples[l] += 1
            self.x[part] = x - rate * c * u
            coefficients.append(c)
        return coefficients


class OnebitLamb(Lamb):
    """After the freeze, v is frozen. The coefficient is the average ratio times a factor from a fresh variance. With
    steer "norm", it is LAMB's trust ratio of the actual update."""

    unify = "layer"
    averages = True

    def compressed_step(self, gradients, rate):
        key, coefficients = self.key, []
        p = self.m
        done, self.m = self.next_momentum(gradients)
        rebuilt = (self.m - self.beta1 * p) / (1 - self.beta1)
        self.f = self.beta2 * self.f + (1 - self.beta2) * rebuilt * rebuilt
        for l, part in enumerate(self.parts):
            active = self.active[part]
            x = self.x[part]
            frozen = self.root(l)
            fresh = np.sqrt(self.f[part]) + self.epsilon
            u0 = self.led(l, p) / frozen
            u = u0 + self.decay[l] * x
            if key["steer"] == "norm":
                c = self.trust_ratio(x, u)
                self.factor[l] = c / self.average[l] if self.average[l] > 0 else self.factor[l]
                coefficients.append(c)
                self.x[part] = x - rate * c * u
                continue
            r = float(np.max(frozen[active] / fresh[active], initial=0.0)) if np.any(active) else 1.0
            if self.decay[l] > 0:
                k = min(1.0, norm(u0) / norm(u)) if norm(u) > 0 else 1.0
                r = k * r + (1 - k)
            r = max(min(r, key["factor_max"]), key["factor_min"])
            threshold = key["factor_threshold"]
            r = max(min(r, self.factor[l] * (1 + threshold)), self.factor[l] * (1 - threshold))
            self.factor[l] = r
            coefficients.append(self.average[l] * r)
            self.x[part] = x - rate * self.average[l] * r * u
        return done, coefficients


class OnebitAdam(Method):
    """Adam without bias correction. After the freeze, v is frozen and the momentum is compressed."""

    def update(self, rate, before=None):
        for l, part in enumerate(self.parts):
            m = self.m[part] if before is None else self.led(l, before)
            u = m / self.root(l) + self.decay[l] * self.x[part]
            self.x[part] = self.x[part] - rate * u
        return [1.0] * len(self.parts)

    def warmup_step(self, g, rate):
        self.adam_moments(g)
        return self.update(rate)

    def compressed_step(self, gradients, rate):
        before = self.m
        done, self.m = self.next_momentum(gradients)
        return done, self.update(rate, before)


class OnebitSgd(Method):
    """m <- b m + mean(g + decay x), x <- x - lr m, b the first beta. The mean is compressed after the warmup. Masked
    elements have no gradient: m <- b m + decay x."""

    has_variance = False

    def with_decay(self, g):
        pieces = [g[part] + decay * self.x[part] for part, decay in zip(self.parts, self.decay)]
        return np.concatenate(pieces).astype(self.real)

    def update(self, mean, rate):
        self.m = self.beta1 * self.m + mean
        self.x = self.x - rate * self.m
        return [1.0] * len(self.parts)

    def warmup_step(self, g, rate):
        return self.update(self.with_decay(g), rate)

    def compressed_step(self, gradients, rate):
        done = self.exchange.mean([self.with_decay(g) for g in gradients])
        decay = self.with_decay(np.zeros(self.count, dtype=self.real))
        return done, self.update(np.where(self.active, done.output, decay).astype(self.real), rate)


METHODS = dict(lamb=Lamb, onebit_lamb=OnebitLamb, onebit_adam=OnebitAdam, onebit_sgd=OnebitSgd)


# -- the files -------------------------------------------------------------------------------------------------------


def run(document, real=np.float64):
    """Returns the OUT of an IN. It has more keys than the format. A compressed step has signs (of the mean, see
    words()), sign_agreement (share of active elements where a worker's sign is the mean's, mean over ranks) and margin
    (smallest distance of a number from a change of sign, in its scale). With clipping, steps have clip_factor. `final`
    has live: words of the active elements at the end. A skipped step has only phase and skipped."""
    tensors, gradients = inputs(document)
    if real != np.float64:  # the type that the product gets
        gradients = [[g.astype(real) for g in ranks] for ranks in gradients]
    method = METHODS[document["optimizer"]["name"]](document["optimizer"], tensors, len(gradients[0]), real)
    rates, steps = document["learning_rates"], []
    for ranks in gradients:
        steps.append(method.step(ranks, rates[method.t] if method.t < len(rates) else math.nan))
    split = lambda values: [values[part].tolist() for part in method.parts]
    exchange = method.exchange
    squares = lambda arrays: [norm(values) ** 2 for values in arrays]
    final = dict(parameters=split(method.x), momentum=split(method.m), variance=split(method.v),
                 fresh_variance=split(method.f),
                 worker_error_squared_norm=squares(exchange.worker_error) if exchange else [0.0] * method.ranks,
                 server_error_squared_norm=squares([exchange.server_error[a:b] for a, b in exchange.chunks])
                 if exchange else [0.0] * method.ranks,
                 live=words(np.ones(method.count, dtype=bool), method.active))
    return dict(steps=steps, final=final)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    pathlib.Path(sys.argv[2]).write_text(json.dumps(finite(run(document))) + "\n")


if __name__ == "__main__":
    main()
