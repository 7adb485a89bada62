# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows where our 1-bit optimizers differ from DeepSpeed's on purpose: a case and a sentence with numbers for each.

A function show_* takes its case, DeepSpeed's snapshots of rank 0 (steps) and the program. It returns the sentence.
"""
import numpy as np

from deepspeed_cases import ADAM, FREEZE, LAMB, STEPS, TENSORS, Case

EMBEDDING, BIAS, NORM = 0, 3, 4


def cases(ranks):
    """Returns {function that shows it: case}."""
    def lamb(**others):
        return Case("onebit_lamb", ranks, {**LAMB, **others.pop("settings", {})}, **others)

    def with_norm(count, height):
        return [*TENSORS[:NORM], ("norm", count, height, 0.0, 0.05)]

    return {
        show_first_batch: lamb(first_step_on_zeros=False, freeze_step=FREEZE),
        show_freeze_step: lamb(freeze_step=FREEZE),
        show_average: lamb(settings=dict(max_coefficient=1.0), tensors=with_norm(24, 150.0)),
        show_no_momentum: lamb(silent_until=FREEZE + 4),
        show_padding: lamb(tensors=with_norm(16, 1.5)),
        show_mask: lamb(dead=range(400, 460)),
        show_load_before: lamb(load_after={FREEZE - 2: None}),
        show_load_after: lamb(load_after={FREEZE + 4: None}),
        show_load_lowered: lamb(load_after={FREEZE - 4: FREEZE - 6}),
        show_two_vectors: Case("onebit_adam", ranks, ADAM, decay=0.1, flat=[[0, 1, 2], [3, 4]]),
    }


def show(chosen, theirs, program):
    for function, case in chosen.items():
        print(f"- {function(case, theirs[function][0], program)}", flush=True)


def largest_change(case, first, last, l):
    """Returns the largest difference of two flat vectors in tensor l."""
    return float(np.max(np.abs(case.split(last)[l] - case.split(first)[l])))


def parameters(case, program, steps=STEPS):
    return np.concatenate(case.ours(program, steps)["final"]["parameters"])


def first_exchange(steps):
    return next(t for t, step in enumerate(steps, start=1) if step["worker_scales"])


def show_first_batch(case, theirs, program):
    start = np.concatenate([tensor["initial"] for tensor in case.tensors])
    moves = [max(largest_change(case, start, x, l) for l in range(len(case.tensors)))
             for x in (parameters(case, program, 1), theirs[0]["parameters"])]
    return (f"First batch, where no wrapper has made a step on zeros (fp32): it moves our parameters by up to "
            f"{moves[0]:.2g}, theirs by {moves[1]:.2g}.")


def show_freeze_step(case, theirs, program):
    phases = [step["phase"] for step in case.ours(program)["steps"]]
    return (f"Freeze step {FREEZE} given to both, theirs after a step on zeros: our first compressed batch is number "
            f"{phases.index('compressed') + 1}, theirs {first_exchange(theirs)}.")


def show_average(case, theirs, program):
    ours = case.ours(program)["steps"][FREEZE - 1]["average"][NORM]
    moves = [largest_change(case, a, b, NORM) for a, b in (
        (parameters(case, program, FREEZE), parameters(case, program)),
        (theirs[FREEZE - 1]["parameters"], theirs[-1]["parameters"]))]
    average = theirs[FREEZE - 1]["average"][NORM]
    return (f"A tensor whose trust ratio is always clamped to 1: our average at the freeze is {ours:.3g} and it then "
            f"moves by {moves[0]:.2g}; theirs is {average:.3g} and it moves by {moves[1]:.2g}.")


def show_no_momentum(case, theirs, program):
    finite = bool(np.all(np.isfinite(parameters(case, program))))
    return (f"A tensor without gradient up to the freeze: ours goes on, all {STEPS} steps, parameters "
            f"{'finite' if finite else 'NOT FINITE'}; theirs stops in step {len(theirs)} with {theirs[-1]}.")


def show_padding(case, theirs, program):
    t = first_exchange(theirs)
    ratios = np.array(theirs[t - 1]["worker_scales"][0]) / case.ours(program, t)["steps"][-1]["worker_scale"]
    n = sum(len(tensor["initial"]) for tensor in case.tensors)
    return (f"{n} elements: their worker scales of the first exchange are {ratios.min():.5f} to {ratios.max():.5f} of "
            f"ours, which leave out the padding; sqrt({n} / 1152) = {np.sqrt(n / 1152):.5f}.")


def show_mask(case, theirs, program):
    t = first_exchange(theirs)
    ours = case.ours(program)
    ratios = [np.mean(np.array(theirs[k]["worker_scales"][0]) / ours["steps"][k]["worker_scale"]) for k in (t - 1, -1)]
    dead = case.tensors[EMBEDDING]["dead"]
    momenta = [np.max(np.abs(np.asarray(m)[dead]))
               for m in (ours["final"]["momentum"][EMBEDDING], case.split(theirs[-1]["momentum"])[EMBEDDING])]
    return (f"{len(dead)} masked elements: momentum there at most {momenta[0]:.2g} and {momenta[1]:.2g}; they take "
            f"part in their scales and residuals: worker scale {ratios[0]:.4f} of ours in the first exchange, "
            f"{ratios[1]:.4f} in the last.")


def show_load_before(case, theirs, program):
    before, after = theirs[FREEZE - 4]["average"][EMBEDDING], theirs[FREEZE - 3]["average"][EMBEDDING]
    ours = case.ours(program, FREEZE)["steps"][-1]["average"][EMBEDDING]
    return (f"Loaded before the freeze: their average goes from {before:.3g} to {after:.3g} and is "
            f"{theirs[FREEZE - 1]['average'][EMBEDDING]:.3g} at the freeze; ours, which is kept, {ours:.3g}.")


def show_load_after(case, theirs, program):
    norms = [np.sqrt(theirs[t]["worker_error_squared_norm"]) for t in (FREEZE + 2, FREEZE + 3)]
    ours = np.sqrt(case.ours(program, FREEZE + 4)["final"]["worker_error_squared_norm"][0])
    return (f"Loaded after the freeze: norm of their worker error {norms[0]:.3g} a step before and {norms[1]:.3g} "
            f"after; ours, which is kept, {ours:.3g}.")


def show_load_lowered(case, theirs, program):
    t = first_exchange(theirs)
    state = theirs[t - 2]
    fresh, kept = (np.max(np.abs(state[key])) for key in ("fresh_variance", "variance"))
    return (f"Loaded with the freeze before the step reached: their fresh variance is {fresh:.2g} at most where the "
            f"variance is {kept:.2g}; ours is then a copy of the variance.")


def show_two_vectors(case, theirs, program):
    t = first_exchange(theirs)
    return (f"1-bit Adam, parameters in two groups: {len(theirs[t - 1]['worker_scales'])} exchanges a step with scales "
            f"of their own there; one for the whole model here.")
