#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables and a picture of what study.py found.

    python3 tests/studies/compare.py PLAN.yaml [--picture FILE.svg]

For every pair [baseline, variant] of the plan: the final held-out losses, the mean over seeds of the difference between
runs with the same seed, its standard error, and whether its magnitude is within half a per cent of the loss or two
standard errors, whichever is larger. For every contrast [baseline, variant], which should lose: whether it is worse by
more than three standard errors. Seeds that only one of the two has are left out; "programs" says how many builds of the
program made the runs of a row, ? where some line does not tell. Markdown on standard output.
"""

import argparse
import math
import pathlib

import numpy as np

from study import Plan

# Told apart also by those who do not see all colours (Okabe and Ito, "Color universal design", 2008).
COLOURS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"]
STYLES = ["-", "-", "--", "-.", ":", "--", "-.", ":"]


def paired(results, seeds, baseline, variant):
    """(n, mean of baseline, mean of variant, mean difference, its standard error) over seeds that both have."""
    both = [s for s in seeds if (baseline, s) in results and (variant, s) in results]
    if not both:
        return None
    final = {name: np.array([results[name, s]["held_out"][-1][1] for s in both]) for name in (baseline, variant)}
    difference = final[variant] - final[baseline]
    error = difference.std(ddof=1) / math.sqrt(len(both)) if len(both) > 1 else math.nan
    return len(both), final[baseline].mean(), final[variant].mean(), difference.mean(), error


def programs(plan, results, baseline, variant):
    """How many builds of the program the runs of a pair come from; ? where a line names none."""
    names = {results[name, s].get("program", "") for s in plan.seeds for name in (baseline, variant)
             if (baseline, s) in results and (variant, s) in results}
    return len(names) if all("," in name for name in names) else "?"


def table(plan, results):
    rows = ["| baseline | variant | seeds | baseline's loss | variant's loss | difference | standard error | in per cent "
            "| frozen after | programs | verdict |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for baseline, variant in plan.pairs + plan.contrasts:
        found = paired(results, plan.seeds, baseline, variant)
        if found is None:
            continue
        n, base, other, difference, error = found
        if n < 2:
            verdict = "one seed"
        elif [baseline, variant] in plan.contrasts:
            verdict = "worse" if difference > 3 * error else "not worse"
        elif abs(difference) <= 0.005 * base:
            verdict = "within 0.5 %"
        else:
            verdict = "within two standard errors" if abs(difference) <= 2 * error else "beyond the target"
        frozen = {results[variant, s]["frozen_after"] for s in plan.seeds if (variant, s) in results}
        after = ", ".join(str(f) for f in sorted(f for f in frozen if f is not None)) or "-"
        rows.append(f"| {baseline} | {variant} | {n} | {base:.4f} | {other:.4f} | {difference:+.4f} | "
                    f"{error:.4f} | {100 * difference / base:+.2f} | {after} | {programs(plan, results, baseline, variant)} | {verdict} |")
    return "\n".join(rows)


def picture(plan, results, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams["svg.hashsalt"] = plan.path.stem
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    shown = [v for v in plan.variants if any((v, s) in results for s in plan.seeds)]
    for at, variant in enumerate(shown):
        lines = [results[variant, s] for s in plan.seeds if (variant, s) in results]
        steps = np.array([step for step, _ in lines[0]["held_out"]])
        samples = steps * lines[0]["samples"] / lines[0]["steps"]
        losses = np.array([[loss for _, loss in line["held_out"]] for line in lines])
        colour, style = COLOURS[at % len(COLOURS)], STYLES[at % len(STYLES)]
        axes.plot(samples, losses.mean(0), style, color=colour, label=f"{variant} ({len(lines)} seeds)", linewidth=1.6)
        if len(lines) > 1:
            axes.fill_between(samples, losses.min(0), losses.max(0), color=colour, alpha=0.15, linewidth=0)
    axes.set_xlabel("sequences")
    axes.set_ylabel("held-out masked-LM loss (nats)")
    lowest = min(line["held_out"][-1][1] for line in results.values())
    axes.set_ylim(lowest - 0.05, min(axes.get_ylim()[1], lowest + 1.5))
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("--picture", type=pathlib.Path)
    options = parser.parse_args()
    plan = Plan(options.plan)
    results = plan.results()
    print(f"{' '.join(plan.about.split())}\n\n{table(plan, results)}")
    if options.picture and results:
        picture(plan, results, options.picture)


if __name__ == "__main__":
    main()
