# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the twin with golden numbers of the method's description, which were computed independently.

The mean: two ranks, 16 elements. The trace: layer a has 7 elements 0.5 sin(k + 1), decay 0.01; layer b 9 elements
0.2 cos k, no decay. Gradients are those of formula_gradient() with phase 3. Five steps of warmup, two compressed.
"""

import math

import numpy as np

from onebit_mean import CompressedMean, words
from onebit_twin import norm, run

SMALL = dict(
    tensors=[dict(name="a", initial=(0.5 * np.sin(np.arange(7) + 1.0)).tolist(), weight_decay=0.01),
             dict(name="b", initial=(0.2 * np.cos(np.arange(9) * 1.0)).tolist(), weight_decay=0.0)],
    height=[0.1, 0.02])

SETTINGS = dict(betas=[0.9, 0.999], epsilon=1e-8, freeze=dict(step=5), coefficient_beta=0.9, min_coefficient=0.01,
                max_coefficient=0.3, factor_min=0.5, factor_max=4.0, factor_threshold=0.1, unify="layer", scale="rms",
                scale_groups=1)

# Golden numbers of the method's description: two ranks, 16 elements, residuals zero at first, two calls with equal input.
MEAN_ORACLE = [
    dict(S=["1.15244306", "2.31840462"], R=["1.35748686"], bits=["00FF", "36D9"], signs="--++-++-++-++--+",
         e=["5.62182217", "23.6221041"], d=["5.4845449"]),
    dict(S=["1.42507992", "2.88578638"], R=["1.77869691"], bits=["033F", "724B"], signs="-+----+--++-++++",
         e=["11.4599886", "46.6516789"], d=["22.0890824"])]
# One rank: s, factors at steps 6 and 7, parameters after step 7. Two ranks: coefficient, average or factor, norm.
ONE_RANK = dict(
    s=["0.594032597", "3.158652515"], t6=[".987840417", ".997215615"], t7=[".960290544", ".995273842"],
    x=[".398825822", ".446200899", ".078724408", "-.357794815", "-.466702660", "-.149970288", ".307173059",
       ".190980904", ".104689924", "-.079699052", "-.189525738", "-.125552100", ".052341594", ".183262810",
       ".145605420", "-.027968519"])
TWO_RANKS = dict(
    s=["0.59758407", "3.06189356"], S=[".00500022008", ".00446494882"], R=[".00026763563"],
    rows={1: [".112745255", ".0112745255", ".945554159", ".0445516847", ".00445516847", ".422650355"],
          5: [".14062148", ".0481243474", ".947004768", ".0555576396", ".0197820637", ".419168748"],
          6: [".0481446183", "1.00042122", ".947516165", ".019789601", "1.00038102", ".41933453"],
          7: [".0433301565", ".900379097", ".944769179", ".0178106409", ".900342914", ".417876743"]})


class Check:
    """Compares with printed numbers. The difference may be at most one in the last printed digit."""

    def __init__(self):
        self.worst, self.count = 0.0, 0

    def __call__(self, printed, value, what):
        unit = 10.0 ** -len(printed.partition(".")[2])
        off = abs(float(printed) - value) / unit
        assert off <= 1.0, f"{what}: printed {printed}, twin {value:.12g}"
        self.worst, self.count = max(self.worst, off), self.count + 1

    def all(self, printed, values, what):
        assert len(printed) == len(values), what
        for k, (text, value) in enumerate(zip(printed, values)):
            self(text, value, f"{what}[{k}]")


def check_mean_oracle(check):
    k = np.arange(16)
    vectors = [(k - 7.5) * 0.25, (5 * k % 16 - 7.0) * 0.5]
    active = np.ones(16, dtype=bool)
    mean = CompressedMean(2, active)
    for call, row in enumerate(MEAN_ORACLE, start=1):
        done = mean.mean(vectors)
        check.all(row["S"], [s[0] for s in done.worker_scale], f"S of call {call}")
        assert done.server_scale[1] == []
        check.all(row["R"], done.server_scale[0], f"R of call {call}")
        for signs, bits in zip(done.worker_signs, row["bits"]):
            assert words(signs, active)[:4].upper() == bits, (call, bits)
        assert "".join("+" if s else "-" for s in done.output > 0) == row["signs"]
        check.all(row["e"], [norm(e) ** 2 for e in mean.worker_error], f"|e|^2 of call {call}")
        check.all(row["d"], [norm(mean.server_error) ** 2], f"|d|^2 of call {call}")


def small_trace(ranks, phase, calls=7):
    return dict(optimizer=dict(name="onebit_lamb", **SETTINGS), tensors=SMALL["tensors"], learning_rates=[0.01] * calls,
                gradients=dict(ranks=ranks, calls=calls, height=SMALL["height"], phase=phase))


def check_trace_oracle(check):
    out = run(small_trace(1, 3.0))
    final = out["final"]
    check.all(ONE_RANK["t6"], out["steps"][5]["factor"], "W=1 r of step 6")
    check.all(ONE_RANK["t7"], out["steps"][6]["factor"], "W=1 r of step 7")
    check.all(ONE_RANK["x"], sum(final["parameters"], []), "W=1 x")
    check.all(ONE_RANK["s"], unification(small_trace(1, 3.0, 5)), "W=1 s")
    out = run(small_trace(2, 3.0))
    check.all(TWO_RANKS["s"], unification(small_trace(2, 3.0, 5)), "W=2 s")
    for t, row in TWO_RANKS["rows"].items():
        step = out["steps"][t - 1]
        second = step["average"] if t <= 5 else step["factor"]
        values = [[step["coefficient"][l], second[l], step["weight_norm"][l]] for l in range(2)]
        check.all(row, values[0] + values[1], f"W=2 step {t}")
    check.all(TWO_RANKS["S"], out["steps"][5]["worker_scale"], "W=2 S")
    check.all(TWO_RANKS["R"], out["steps"][5]["server_scale"][:1], "W=2 R")


def unification(warmup_only):
    """Returns s of each tensor from the momentum at the freeze."""
    roots = [math.sqrt(np.mean(np.square(m))) for m in run(warmup_only)["final"]["momentum"]]
    return [sum(roots) / len(roots) / root for root in roots]
