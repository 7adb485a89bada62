# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes onebit_traces.json: results of the 1-bit optimizers' twin, for the tests of the product.

    python onebit_traces.py [FOLDER]       needs numpy; the test golden.onebit_traces runs it and compares

First it compares the twin with numbers that were computed independently (onebit_oracle.py). The file has:
mean[]: {ranks, scale, groups, dead, vectors [ranks][n], calls [{signs, worker_signs, worker_scale, server_scale,
worker_error_squared_norm, server_error_squared_norm}], the last with output}: the compressed mean alone. All calls get
the same vectors; one vector has an exact zero, whose sign is +.
traces[]: {name, note, in, out}. `in` and `out` are files of build/tests/replay, see onebit_twin.py. `initial` and
`gradients` may be formulas, to be evaluated in double and rounded to float. Numbers have ten digits, the final vectors
of larger traces eight.
sketch, freeze, noise: golden numbers of onebit_decisions.py.

Tests may compare signs in floats: this script also runs every trace in floats and requires the same signs. It prints
the smallest margin: the distance of any number from zero before its sign is taken, in units of its scale.
"""

import json
import math
import pathlib
import sys

import numpy as np

import onebit_decisions as decisions
from onebit_inputs import finite
from onebit_mean import CompressedMean, words
from onebit_oracle import SETTINGS, SMALL, Check, check_mean_oracle, check_trace_oracle, small_trace
from onebit_twin import norm, run

# Smallest accepted margin. The error of floats is a few 1e-7 of a scale in each step.
LEAST_MARGIN = 2e-4
# Largest accepted relative difference between a trace in floats and in doubles.
LARGEST_DIFFERENCE = 5e-7

# -- the traces ------------------------------------------------------------------------------------------------------


def wave(name, count, height, step, shift, decay, dead=()):
    tensor = dict(name=name, initial=dict(count=count, height=height, step=step, shift=shift), weight_decay=decay)
    return {**tensor, "dead": list(dead)} if dead else tensor


WIDE = [wave("embedding", 133, 0.3, 0.37, 0.2, 0.01), wave("kernel", 99, 0.1, 1.3, 1.0, 0.01),
        wave("bias", 33, 0.0, 1.0, 0.0, 0.0), wave("norm", 37, 0.05, 0.9, 1.5, 0.0)]
WIDE_HEIGHT = [0.01, 0.1, 0.05, 0.02]


def medium(ranks):
    """Like WIDE, with the fewest elements that use every chunk: 154 on 3 ranks, 125 otherwise."""
    return [wave("embedding", 77 if ranks == 3 else 48, 0.3, 0.37, 0.2, 0.01), wave("kernel", 45, 0.1, 1.3, 1.0, 0.01),
            wave("bias", 19, 0.0, 1.0, 0.0, 0.0), wave("norm", 13, 0.05, 0.9, 1.5, 0.0)]


# `embedding` has rows of 8. Row 5 and all of `late` get their first gradient in call 8, after the freeze. Masked in the
# layout: rows 9 to 11, and 3 elements of `bias`.
SPARSE = [wave("embedding", 96, 0.3, 0.37, 0.2, 0.01, range(72, 96)), wave("late", 35, 0.2, 0.7, 0.3, 0.01),
          wave("bias", 21, 0.0, 1.0, 0.0, 0.0, [0, 9, 20]), wave("kernel", 43, 0.1, 1.3, 1.0, 0.01)]
SPARSE_LATE = [[0, 40, 8, 8], [1, 0, 35, 8]]
NEVER = [[0, 72, 24, 1000], [2, 0, 1, 1000], [2, 9, 1, 1000], [2, 20, 1, 1000]]


def trace(name, note, ranks, tensors=None, height=WIDE_HEIGHT, calls=8, late=(), not_finite=(), method="onebit_lamb",
          rates=None, **changes):
    tensors = tensors or medium(ranks)
    settings = dict(name=method, **{**SETTINGS, **changes})
    used = dict(lamb="betas epsilon min_coefficient max_coefficient", onebit_lamb=" ".join(SETTINGS),
                onebit_adam="betas epsilon freeze unify scale scale_groups",
                onebit_sgd="betas freeze scale scale_groups")[method].split()
    if method == "onebit_adam" and "unify" not in changes:
        settings["unify"] = "none"
    settings = {key: value for key, value in settings.items() if key in used or key in changes or key == "name"}
    gradients = dict(ranks=ranks, calls=calls, height=height, phase=1.1)
    if late:
        gradients["late"] = [list(entry) for entry in late]
    if not_finite:
        gradients["not_finite"] = [list(entry) for entry in not_finite]
    rates = rates or [round(0.01 * (1 - 0.05 * t), 6) for t in range(calls)]
    return dict(name=name, note=note, document=dict(optimizer=settings, tensors=tensors, learning_rates=rates,
                                                    gradients=gradients))


def traces():
    small = dict(tensors=SMALL["tensors"], height=SMALL["height"])
    dead = dict(tensors=SPARSE, height=[0.01, 0.05, 0.05, 0.1], calls=9)
    silent = dict(dead, late=SPARSE_LATE + NEVER)
    return [
        trace("wide_2", "every chunk in use", 2),
        trace("wide_3", "every chunk in use, the last one short", 3, scale="mean_magnitude"),
        trace("wide_4", "every chunk in use, the last one short", 4, tensors=WIDE),
        trace("element_4", "unify: element", 4, unify="element"),
        trace("element_3", "unify: element, mean magnitude", 3, tensors=WIDE, unify="element",
              scale="mean_magnitude"),
        trace("groups_4", "three scale groups, cut across chunks", 4, tensors=WIDE, scale_groups=3,
              scale="mean_magnitude"),
        trace("groups_element_2", "three scale groups", 2, scale_groups=3, unify="element"),
        trace("factor_one_4", "r fixed to 1", 4, unify="element", scale="mean_magnitude", factor_min=1.0,
              factor_max=1.0),
        trace("norm_2", "steer: norm, every chunk in use", 2, steer="norm"),
        trace("norm_element_3", "steer: norm, element, mean magnitude", 3, steer="norm", unify="element",
              scale="mean_magnitude"),
        trace("norm_dead_4", "steer: norm with masked elements", 4, steer="norm", unify="element",
              scale="mean_magnitude", **silent),
        trace("limit_3", "gradients limited in roots of the kept variance", 3, steer="norm", unify="element",
              scale="mean_magnitude", gradient_limit=0.2),
        trace("gradient_2", "exchange: gradient, every chunk in use", 2, exchange="gradient", steer="norm"),
        trace("gradient_element_3", "exchange: gradient, element, mean magnitude, three groups", 3, exchange="gradient",
              steer="norm", unify="element", scale="mean_magnitude", scale_groups=3, gradient_limit=0.5),
        trace("gradient_dead_4", "exchange: gradient with masked elements", 4, exchange="gradient", steer="norm",
              unify="element", scale="mean_magnitude", **silent),
        trace("gradient_factor_3", "exchange: gradient, steered by the factor r", 3, exchange="gradient"),
        trace("shape_element_3", "the sums of the kept variance go on, by estimates", 3, exchange="gradient", steer="norm",
              unify="element", scale="mean_magnitude", gradient_limit=0.5, frozen_variance="shape", seed=7),
        trace("shape_dead_4", "the same with masked elements and clipping", 4, exchange="gradient", steer="norm",
              unify="element", scale="mean_magnitude", frozen_variance="shape", clip=0.03, seed=8, **silent),
        trace("shape_layer_2", "the same, unify: layer, momenta", 2, steer="norm", frozen_variance="shape", tensors=WIDE),
        trace("shape_1", "the same on one rank", 1, exchange="gradient", steer="norm", unify="element",
              frozen_variance="shape"),
        trace("nesterov_element_3", "Nesterov's momentum, the defaults of a deck", 3, exchange="gradient", nesterov=True,
              steer="norm", unify="element", scale="mean_magnitude", gradient_limit=1.0, frozen_variance="shape", clip=0.03,
              clip_norm="sketch", sketch_columns=128, seed=11, **silent),
        trace("nesterov_factor_2", "the same, unify: layer, steered by the factor r", 2, exchange="gradient", nesterov=True),
        trace("nesterov_1", "the same on one rank, steer: norm", 1, exchange="gradient", nesterov=True, steer="norm",
              unify="element"),
        trace("gradient_1", "exchange: gradient on one rank", 1, exchange="gradient", steer="norm", unify="element"),
        trace("limit_1", "the same on one rank", 1, steer="norm", unify="element", gradient_limit=0.2),
        trace("norm_1", "steer: norm on one rank", 1, steer="norm"),
        trace("dead_3", "masked by layout; a row and a tensor whose first gradient comes after the freeze", 3, **silent),
        trace("dead_element_4", "the same, unify: element, mean magnitude, three groups", 4, unify="element",
              scale="mean_magnitude", scale_groups=3, **silent),
        trace("dead_1", "the same on one rank", 1, **silent),
        trace("dead_noise_2", "gradients where the layout says there are none", 2, late=SPARSE_LATE, **dead),
        trace("no_sample_2", "zeros whose first gradient comes in the last warmup step: average min(1, max)",
              2, tensors=[SPARSE[2], SPARSE[3]], height=[0.05, 0.1], calls=6, late=[[0, 0, 21, 2]],
              freeze=dict(step=2)),
        trace("clip_3", "clipping by the exact norm of the mean gradient", 3, clip=0.03, **small),
        trace("clip_sketch_4", "clipping by the sketch in the compressed phase", 4, clip=0.05, clip_norm="sketch",
              sketch_columns=128, seed=20240229),
        trace("clip_sketch_every_3", "clipping by the sketch of every third step", 3, calls=9, clip=0.05, clip_norm="sketch",
              sketch_columns=128, sketch_every=3, seed=4),
        trace("clip_local_2", "clipping by the rms of the local norms in the compressed phase", 2, clip=0.08,
              clip_norm="local_rms", **small),
        trace("skip_2", "a NaN in calls 3 and 7: seven steps of nine calls", 2, calls=9, scale="mean_magnitude",
              not_finite=[[3, 1, 1, 4], [7, 0, 0, 6]], rates=[0.01, 0.0095, 0.009, 0.0085, 0.008, 0.0075, 0.007],
              **small),
        trace("never_2", "freeze after the last step: LAMB", 2, calls=4, **small),
        trace("lamb_3", "LAMB", 3, method="lamb", calls=4, **small),
        trace("adam_3", "1-bit Adam", 3, method="onebit_adam"),
        trace("adam_element_4", "1-bit Adam in units of the root of the variance; masked elements", 4,
              method="onebit_adam", unify="element", scale="mean_magnitude", **silent),
        trace("adam_gradient_4", "1-bit Adam, exchange: gradient", 4, method="onebit_adam", exchange="gradient",
              unify="element", scale="mean_magnitude"),
        trace("adam_shape_3", "1-bit Adam, the sums of the kept variance go on", 3, method="onebit_adam",
              exchange="gradient", unify="element", scale="mean_magnitude", frozen_variance="shape", seed=9),
        trace("adam_nesterov_4", "1-bit Adam, Nesterov's momentum", 4, method="onebit_adam", exchange="gradient",
              nesterov=True, unify="element", scale="mean_magnitude", frozen_variance="shape", seed=12),
        trace("adam_1", "1-bit Adam on one rank", 1, method="onebit_adam", **small),
        trace("sgd_4", "1-bit SGD with momentum", 4, method="onebit_sgd", rates=[0.1] * 8),
        trace("sgd_groups_2", "1-bit SGD, three scale groups, mean magnitude, masked elements", 2, method="onebit_sgd",
              scale="mean_magnitude", scale_groups=3, rates=[0.1] * 9, **silent),
    ]


def margin(out):
    return min((step["margin"] for step in out["steps"] if "margin" in step), default=math.inf)


def choose_phase(document):
    """Chooses the phase with the largest sign margin among those for which floats are accurate enough. They are not if
    the ranks' gradients nearly cancel in an element. Returns the document and its result."""
    candidates = []
    for j in range(60):
        candidate = {**document, "gradients": {**document["gradients"], "phase": round(1.1 + 0.01 * j, 2)}}
        candidates.append((candidate, run(candidate)))
    candidates.sort(key=lambda pair: -margin(pair[1]))  # stable: without signs the first phase stays first
    return next(pair for pair in candidates if max(float_difference(*pair)) < LARGEST_DIFFERENCE)


def relative(exact, single):
    """Returns the largest difference, relative to the largest magnitude of `exact`. Arguments may be nested lists."""
    exact, single = (np.concatenate([np.ravel(part) for part in values]) if values and isinstance(values[0], list)
                     else np.ravel(values) for values in (exact, single))
    return float(np.max(np.abs(exact - single), initial=0)) / max(float(np.max(np.abs(exact), initial=0)), 1e-30)


def float_difference(document, out):
    """Runs the trace in floats; signs must agree. Returns the largest relative difference of vectors, of scalars."""
    other, vectors, scalars = run(document, np.float32), 0.0, 0.0
    for step, single in zip(out["steps"], other["steps"]):
        assert step.get("signs") == single.get("signs"), "a sign differs in floats"
        for key in ("coefficient", "average", "factor", "weight_norm", "worker_scale", "server_scale"):
            scalars = max(scalars, relative(step.get(key, []), single.get(key, [])))
    for key, exact in out["final"].items():
        if key.endswith("squared_norm"):
            scalars = max(scalars, relative(exact, other["final"][key]))
        elif key != "live":
            vectors = max(vectors, *(relative(a, b) for a, b in zip(exact, other["final"][key])))
    return vectors, scalars


def digits(value, count):
    """Rounds the floats in a tree of lists and dictionaries to `count` significant digits."""
    if isinstance(value, dict):
        return {key: digits(entry, 3 if key == "margin" else count) for key, entry in value.items()}
    if isinstance(value, list):
        return [digits(entry, count) for entry in value]
    return float(f"{value:.{count}g}") if isinstance(value, float) else value


def build_traces():
    entries = []
    for name, ranks, phase in [("p14_1", 1, 3.0), ("p14_2", 2, 3.0), ("p14_3", 3, 1.1), ("p14_4", 4, 1.1)]:
        document = small_trace(ranks, phase)
        entries.append((name, "two small layers, one chunk in use", document, run(document)))
    entries += [(entry["name"], entry["note"], *choose_phase(entry["document"])) for entry in traces()]
    for k, (name, note, document, out) in enumerate(entries):
        least, (vectors, scalars) = margin(out), float_difference(document, out)
        clips = [step["clip_factor"] for step in out["steps"] if "clip_factor" in step]
        print(f"{name:17s} phase {document['gradients']['phase']:.2f}  smallest margin {least:.1e}  floats: vectors"
              f" {vectors:.1e}, scalars {scalars:.1e}",
              f" clip {min(clips):.3f} to {max(clips):.3f}" if clips else "")
        assert least >= LEAST_MARGIN, name
        few = 12 if document["gradients"]["height"] == SMALL["height"] else 8
        final = {key: digits(value, 10 if key.endswith("norm") else few) for key, value in out["final"].items()}
        out = dict(steps=digits(out["steps"], 10), final=final)
        entries[k] = {"name": name, "note": note, "in": document, "out": finite(out)}
    return entries


# -- the mean alone, and decisions -----------------------------------------------------------------------------------


def build_means():
    k16, k200 = np.arange(16.0), np.arange(200.0)
    cases = [dict(ranks=2, scale="rms", groups=1, dead=[], vectors=[(k16 - 7.5) * 0.25, (5 * k16 % 16 - 7.0) * 0.5]),
             dict(ranks=3, scale="mean_magnitude", groups=4, dead=list(range(96, 128)) + [0, 199],
                  vectors=[np.round(np.sin(1.7 * k200 + i) * (1 + k200 % 7), 3) for i in range(3)]),
             dict(ranks=4, scale="rms", groups=2, dead=[5],
                  vectors=[np.round(np.sin(0.9 * k200[:70] + 2 * i + 0.7) * 3, 3) for i in range(4)])]
    entries = []
    for case in cases:
        active = np.ones(case["vectors"][0].size, dtype=bool)
        active[case["dead"]] = False
        new = lambda real: CompressedMean(case["ranks"], active, case["scale"], case["groups"], real)
        mean, single, calls, least = new(np.float64), new(np.float32), [], math.inf
        returned = np.zeros(active.size)
        for call in range(1, 4):
            done = mean.mean(case["vectors"])
            other = single.mean(case["vectors"])
            assert np.array_equal(done.signs[active], other.signs[active]), "a sign differs in floats"
            # nothing is lost: outputs plus both residuals equal the inputs
            returned += done.output
            held = sum(mean.worker_error) / case["ranks"] + mean.server_error
            given = call * sum(case["vectors"]) / case["ranks"] * active
            assert np.max(np.abs(returned + held - given)) < 1e-12
            least = min(least, done.worker_margin, done.server_margin)
            calls.append(dict(signs=words(done.signs, active), worker_signs=[words(s, active) for s in done.worker_signs],
                              worker_scale=done.worker_scale, server_scale=done.server_scale,
                              worker_error_squared_norm=[norm(e) ** 2 for e in mean.worker_error],
                              server_error_squared_norm=[norm(mean.server_error[a:b]) ** 2 for a, b in mean.chunks]))
        calls[-1]["output"] = digits(done.output.tolist(), 10)
        print(f"mean, {case['ranks']} ranks: smallest margin {least:.2e}")
        entries.append({**case, "vectors": [v.tolist() for v in case["vectors"]], "bytes_sent": mean.bytes_sent(),
                        "calls": calls})
    return entries


def build_sketch():
    """Returns signs as words of 32 elements, and the sketch of the mean of three gradients."""
    count, columns, seed, step = 700, 128, 1234, 17
    gradients = [0.1 * np.sin(0.3 * np.arange(count) + rank) for rank in range(3)]
    sums = sum(decisions.sketch(g, seed, step, columns) for g in gradients) / 3
    estimates = []
    for t in range(1, 401):
        estimates.append(float(np.sum(decisions.sketch(np.ones(64), 5, t, 16) ** 2)) / 64)
    estimates = np.asarray(estimates)
    error = estimates.std() / math.sqrt(estimates.size)
    print(f"sketch of 64 ones into 16 columns, 400 steps: Q / exact has mean {estimates.mean():.4f}, standard error"
          f" {error:.4f}, sd {estimates.std():.4f} (bound {math.sqrt(2 / 16):.4f})")
    assert abs(estimates.mean() - 1) < 4 * error
    choices = [(1, 1, 0), (1, 1, 1), (1, 1, 4), (1, 2, 0), (2**63 + 5, 1, 3), (1234, 17, 0), (1234, 2**32 + 17, 0),
               (1234, 17, 2**34 + 3)]
    return dict(signs=[dict(seed=str(s), step=t, first=32 * w, word=f"{decisions.sign_word(s, t, w):08x}")
                       for s, t, w in choices],
                fold=dict(seed=str(seed), step=step, count=count, columns=columns, ranks=3,
                          gradient="0.1 sin(0.3 k + rank)", column=sums.tolist(), squared_norm=norm(sums) ** 2,
                          exact=norm(sum(gradients) / 3) ** 2))


def build_freeze():
    """Returns cases of two tensors whose mean square gradients settle, never settle, or move from one to the other."""
    cases = []
    for name, beta2, tau, growth, swap, warmup, latest, steps in [
            ("settles at once", 0.99, 0.1, 0.0, 0.1, 20, 500, 400), ("settles", 0.99, 40.0, 0.0, 0.1, 20, 500, 400),
            ("slow warmup of the rate", 0.99, 40.0, 0.0, 0.1, 230, 500, 400), ("latest", 0.99, 1e9, 0.015, 0.1, 20, 95, 400),
            ("run ends first", 0.999, 400.0, 0.0, 0.1, 20, 500, 250), ("longer distance", 0.999, 100.0, 0.0, 0.1, 20, 2000, 1200),
            ("moves between tensors", 0.99, 0.1, 0.0, 80.0, 20, 500, 400)]:
        v, sums = np.zeros(2), []
        for t in range(1, steps + 1):
            share = math.exp(-t / swap)
            square = (1 + 3 * math.exp(-t / tau)) * math.exp(growth * t) * np.array([1 - 0.9 * share, 0.5 + 0.9 * share])
            v = beta2 * v + (1 - beta2) * square
            sums.append(v)
        step, checks = decisions.automatic_freeze(sums, beta2, 0.9, warmup, latest)
        print(f"freeze: auto, {name}: step {step} after {len(checks)} checks")
        cases.append(dict(name=name, beta2=beta2, coefficient_beta=0.9, rate_warmup_steps=warmup, latest=latest,
                          steps=steps, tau=tau, growth=growth, swap=swap, step=step, checks=digits(checks, 10)))
    return dict(variance_sums="v <- beta2 v + (1 - beta2) (1 + 3 exp(-t / tau)) exp(growth t) (1 - 0.9 s, 0.5 + 0.9 s), "
                              "s = exp(-t / swap), v = 0 before t = 1",
                cases=cases)


def build_noise():
    """Returns six steps of four ranks with 32 examples: squared norms, both smoothed with 0.99, and their ratio."""
    k, rows = np.arange(64), []
    deviation = (0.5 + k / 32) / math.sqrt(32) * math.sqrt(2)
    spread_average = square_average = 0.0
    for t in range(1, 7):
        ranks = [0.1 * np.cos(k) + deviation * np.sin(1.1 * t * (k + 1) + 2.0 * i * i + k * k * i) for i in range(4)]
        local, mean = float(np.mean([norm(g) ** 2 for g in ranks])), norm(sum(ranks) / 4) ** 2
        spread, square = decisions.noise_scale(local, mean, 32, 4)
        spread_average = 0.99 * spread_average + 0.01 * spread
        square_average = 0.99 * square_average + 0.01 * square
        rows.append(dict(local_square=local, mean_square=mean, spread=spread, square=square,
                         noise_scale=spread_average / square_average if square_average > 0 else None))
    return dict(ranks=4, examples=32, beta=0.99, steps=rows)


def main():
    check = Check()
    check_mean_oracle(check)
    print(f"mean: {check.count} printed numbers, worst off by {check.worst:.2f} of the last digit; all bits and signs")
    check = Check()
    check_trace_oracle(check)
    print(f"traces: {check.count} printed numbers, worst off by {check.worst:.2f} of the last digit")
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    document = dict(mean=build_means(), traces=build_traces(), sketch=build_sketch(), freeze=build_freeze(),
                    noise=build_noise())
    text = json.dumps(digits(document, 10), separators=(",", ":"), allow_nan=False) + "\n"
    (folder / "onebit_traces.json").write_text(text)
    print(f"{len(document['traces'])} traces, {len(text) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
