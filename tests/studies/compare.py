#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a table of the results of study.py, and draws them.

    python3 tests/studies/compare.py PLAN.yaml [--picture FILE.svg] [--only VARIANT ...]

For every pair [baseline, variant] of the plan, the table has the final held-out losses, the mean over seeds of the
difference between runs with the same seed, and its standard error. It says if the magnitude of the difference is within
half a per cent of the loss or two standard errors, whichever is larger. In a contrast [baseline, variant], the variant
should be worse; the table says if it is worse by more than three standard errors. Only seeds that both have count.
"programs" is the number of builds of the program that made the runs of a row, or ? if a line does not record it. The
output is Markdown.
"""

import argparse
import math
import pathlib

import numpy as np

from study import Plan

# Distinguishable with colour-vision deficiencies (Okabe and Ito, "Color universal design", 2008).
COLOURS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"]
STYLES = ["-", "-", "--", "-.", ":", "--", "-.", ":"]


def paired(results, seeds, baseline, variant):
    """Returns (n, mean of baseline, mean of variant, mean difference, its standard error) over the common seeds."""
    both = [s for s in seeds if (baseline, s) in results and (variant, s) in results]
    if not both:
        return None
    final = {name: np.array([results[name, s]["held_out"][-1][1] for s in both]) for name in (baseline, variant)}
    difference = final[variant] - final[baseline]
    error = difference.std(ddof=1) / math.sqrt(len(both)) if len(both) > 1 else math.nan
    return len(both), final[baseline].mean(), final[variant].mean(), difference.mean(), error


def programs(plan, results, baseline, variant):
    """Returns the number of builds of the program that made the runs of a pair, or "?" if a line does not record it."""
    names = {results[name, s].get("program", "") for s in plan.seeds for name in (baseline, variant)
             if (baseline, s) in results and (variant, s) in results}
    return len(names) if all("," in name for name in names) else "?"


def table(plan, results):
    rows = ["| baseline | variant | seeds | baseline's loss | variant's loss | difference | standard error | in per cent "
            "| frozen after | programs | conclusion |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for baseline, variant in plan.pairs + plan.contrasts:
        found = paired(results, plan.seeds, baseline, variant)
        if found is None:
            continue
        n, base, other, difference, error = found
        if n < 2:
            conclusion = "one seed"
        elif [baseline, variant] in plan.contrasts:
            conclusion = "worse" if difference > 3 * error else "not worse"
        elif abs(difference) <= 0.005 * base:
            conclusion = "within 0.5 %"
        else:
            conclusion = "within two standard errors" if abs(difference) <= 2 * error else "beyond the target"
        frozen = {results[variant, s]["frozen_after"] for s in plan.seeds if (variant, s) in results}
        after = ", ".join(str(f) for f in sorted(f for f in frozen if f is not None)) or "-"
        rows.append(f"| {baseline} | {variant} | {n} | {base:.4f} | {other:.4f} | {difference:+.4f} | "
                    f"{error:.4f} | {100 * difference / base:+.2f} | {after} | {programs(plan, results, baseline, variant)} | {conclusion} |")
    return "\n".join(rows)


def picture(plan, results, shown, path):
    """Draws the held-out losses of `shown` on the left, and the differences of pairs from their baselines on the right. Lines
    are means over seeds; bands contain all seeds."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams["svg.hashsalt"] = plan.path.stem
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    styles = {variant: {"color": COLOURS[at % len(COLOURS)], "linestyle": STYLES[at % len(STYLES)]} for at, variant in enumerate(shown)}

    def draw(axes, variant, label, lines, curves):
        samples = np.array([step for step, _ in lines[0]["held_out"]]) * lines[0]["samples"] / lines[0]["steps"]
        axes.plot(samples, curves.mean(0), label=f"{label} ({len(lines)} {'seed' if len(lines) == 1 else 'seeds'})", linewidth=1.6,
                  **styles[variant])
        if len(lines) > 1:
            axes.fill_between(samples, curves.min(0), curves.max(0), color=styles[variant]["color"], alpha=0.15, linewidth=0)

    def losses(lines):
        return np.array([[loss for _, loss in line["held_out"]] for line in lines])

    for variant in shown:
        lines = [results[variant, s] for s in plan.seeds if (variant, s) in results]
        draw(left, variant, variant, lines, losses(lines))
    for baseline, variant in plan.pairs + plan.contrasts:
        both = [s for s in plan.seeds if (baseline, s) in results and (variant, s) in results]
        if baseline not in shown or variant not in shown or not both:
            continue
        lines, before = [[results[name, s] for s in both] for name in (variant, baseline)]
        if [step for step, _ in lines[0]["held_out"]] == [step for step, _ in before[0]["held_out"]]:
            draw(right, variant, f"{variant} - {baseline}", lines, losses(lines) - losses(before))
    lowest = min(line["held_out"][-1][1] for (variant, _), line in results.items() if variant in shown)
    left.set_ylim(lowest - 0.05, min(left.get_ylim()[1], lowest + 1.5))
    left.set_ylabel("held-out masked-LM loss (nats)")
    right.set_ylabel("paired difference (nats)")
    final = np.array([line["held_out"][-1][1] for (variant, _), line in results.items() if variant in shown]).mean()
    right.set_ylim(max(right.get_ylim()[0], -0.02 * final), min(right.get_ylim()[1], 0.02 * final))  # the left plot shows larger differences
    right.axhspan(-0.005 * final, 0.005 * final, color="#000000", alpha=0.07, linewidth=0, label="half a per cent")
    for axes in (left, right):
        axes.set_xlabel("sequences")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", help="variants in the picture")
    options = parser.parse_args()
    plan = Plan(options.plan)
    results = plan.results()
    if unknown := [name for name in options.only or [] if name not in plan.variants]:
        parser.error(f"{plan.path} has no {unknown[0]}; it has {', '.join(plan.variants)}")
    shown = [v for v in options.only or plan.variants if any((v, s) in results for s in plan.seeds)]
    print(f"{' '.join(plan.about.split())}\n\n{table(plan, results)}")
    if options.picture and shown:
        picture(plan, results, shown, options.picture)


if __name__ == "__main__":
    main()
