# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the statistics of a run as one self-contained HTML page: report.py RUN OUT.html, or - for standard output. Exit
codes: 0 success; 1 failure; 2 RUN has no statistics that this script can draw."""
import html
import io
import os
import pathlib
import re
import signal
import sys

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # imports are slow; an interrupt then would print a traceback

# The program replaces files of a run and never changes them, so they need no locks. Some file systems have none.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
try:
    import h5py
    import matplotlib
    import numpy as np
except ImportError as error:
    sys.exit(f"report.py: {error}; install h5py and matplotlib (Debian: python3-h5py python3-matplotlib)")

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm, Normalize  # noqa: E402
from matplotlib.ticker import LogFormatterSciNotation  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
import report_record  # noqa: E402
import report_table  # noqa: E402

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#d9730d", "#2c8a4b", "#888888"
SURROUNDINGS = 10  # steps shown before and after a freeze
LARGEST_JUMP = 3  # maximum factor between a layer's update norms before and after it without a warning
plt.rcParams.update({
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25,
    "axes.axisbelow": True, "figure.constrained_layout.use": True, "svg.fonttype": "path", "legend.frameon": False,
    "svg.hashsalt": "bellwether"})

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font-family: system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.1rem; margin: 2rem 0 .3rem; }} p {{ line-height: 1.45; }}
table {{ border-collapse: collapse; }} td, th {{ padding: .25rem .9rem .25rem 0; text-align: left; }}
th {{ font-weight: 600; }} .warning {{ border-left: .3rem solid #d9730d; padding-left: .7rem; }} svg {{ width: 100%; height: auto; }}
</style></head><body><h1>{title}</h1>
{body}
</body></html>
"""


def running_mean(values, width):
    """Returns the mean over the last `width` steps, ignoring NaN."""
    good = np.isfinite(values)
    total, count = np.cumsum(np.where(good, values, 0.0)), np.cumsum(good)
    total[width:] -= total[:-width].copy()
    count[width:] -= count[:-width].copy()
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)


class PlainLabels(LogFormatterSciNotation):
    """Labels a logarithmic axis where Matplotlib would, in plain numbers: 1.1, not 1.1 x 10^0."""

    def __call__(self, value, position=None):
        return f"{value:g}" if super().__call__(value, position) else ""


def plain_log_axis(axis):
    axis.set_major_formatter(PlainLabels())
    axis.set_minor_formatter(PlainLabels(labelOnlyBase=False))


def svg_of(figure, prefix):
    """Returns the figure as an SVG element. The prefix keeps the ids of several figures on a page distinct."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    element = text.getvalue()[text.getvalue().index("<svg"):]
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", element)


def curve(axes, steps, values, colour, label):
    """Draws the values; if there are many, as a thin line with their running mean."""
    width = max(1, len(values) // 50)
    if width > 1:
        axes.plot(steps, values, color=colour, alpha=0.25, linewidth=0.7)
        axes.plot(steps, running_mean(values, width), color=colour, linewidth=1.6, label=label)
    else:
        axes.plot(steps, values, color=colour, linewidth=1.6, label=label)


def losses(steps, evaluation, limits):
    """Draws the losses. limits: (name, masked-LM loss) of what a model without context reaches on the held-out text."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), width_ratios=[2, 1])
    curve(left, steps["step"], steps["mlm_loss"], BLUE, "training")
    curve(right, steps["step"], steps["nsp_loss"], BLUE, "training")
    if len(evaluation):
        for axes, name in ((left, "mlm_loss"), (right, "nsp_loss")):
            axes.plot(evaluation["step"], evaluation[name], "o-", color=ORANGE, markersize=4, label="held out")
    for (name, loss), style in zip(limits, ("--", ":")):
        left.axhline(loss, color="0.5", linestyle=style, linewidth=1, label=name)
    left.set(xlabel="step", ylabel="masked-LM loss (nats a position)")
    right.set(xlabel="step", ylabel="next-sentence loss (nats)")
    left.legend()
    return figure


def rates(steps):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2))
    left.plot(steps["step"], steps["learning_rate"], color=BLUE)
    left.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    left.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    curve(right, steps["step"], steps["gradient_norm"], GREEN, "norm of the mean gradient")
    clipped, skipped = steps["clip_factor"] < 1, steps["skipped"] > 0
    right.set(xlabel="step", ylabel="gradient norm", yscale="log")
    plain_log_axis(right.yaxis)
    right.set_title(f"clipped {100 * np.mean(clipped):.0f} % of steps, skipped {np.sum(skipped)}", fontsize=9)
    for step in steps["step"][skipped]:
        right.axvline(step, color=ORANGE, linewidth=0.8)
    return figure


def speed(steps):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2))
    curve(left, steps["step"], steps["tokens_per_second"], BLUE, None)
    left.set(xlabel="step", ylabel="tokens per second", ylim=(0, None))
    width = max(1, len(steps) // 50)
    for name, colour, label in (("wait_data_seconds", ORANGE, "data"), ("wait_ranks_seconds", GREEN, "other ranks")):
        share = 100 * running_mean(steps[name] / steps["step_seconds"], width)
        right.plot(steps["step"], share, color=colour, label=label)
    right.set(xlabel="step", ylabel="share of the step waited (%)", ylim=(0, None))
    right.legend(title="waiting for")
    return figure


def names_of(layers):
    return [name.decode() if isinstance(name, bytes) else name for name in layers["name"][:]]


def number(value):
    """Returns a number with three digits; large ones without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def batch_of(steps):
    """Returns the number of sequences per step."""
    if len(steps) == 1:
        return steps["samples"][0] / steps["step"][0]
    return np.median(np.diff(steps["samples"]) / np.maximum(1, np.diff(steps["step"])))


def noise(steps):
    """Returns the figure and the text of the gradient noise scale."""
    batch, scale, critical = batch_of(steps), steps["noise_scale"], steps["critical_batch"][-1]
    if not np.isfinite(steps["noise_trace"]).any():
        return None, ("Unknown: it needs several ranks and the norm of their mean gradient, or one rank with several "
                      "micro-batches per step.")
    known = np.isfinite(scale)
    text = (f"Estimate of the critical batch (mean of the noise scale over the run): {number(critical)} sequences; this "
            f"run's batch is {number(batch)}." if np.isfinite(critical) else
            f"Too few steps for an estimate of the critical batch; this run's batch is {number(batch)}.")
    if not known.all():
        text += (f" At {100 * np.mean(~known):.0f} % of steps it is unknown: noise hides the gradient, or nothing was "
                 "measured.")
    if not known.any():
        return None, text
    figure, axes = plt.subplots(figsize=(10, 3.2))
    axes.plot(steps["step"], scale, color=BLUE, linewidth=1.6, label="noise scale (smoothed)")
    axes.axhline(batch, color=ORANGE, linewidth=1.4, linestyle="--", label="batch of this run")
    if np.isfinite(critical):
        axes.axhline(critical, color=GREY, linewidth=1.4, linestyle=":", label="mean: estimate of the critical batch")
    axes.set(xlabel="step", ylabel="sequences", yscale="log")
    plain_log_axis(axes.yaxis)
    axes.legend()
    return figure, text


def frozen_after(steps, layers):
    """Returns the last dense step before the freeze, or None without a freeze. If the run had a second dense phase, takes the
    later freeze. Rows of steps may be sparse, and `layers` may lack sign_agreement."""
    dense, compressed = (steps["step"][steps["phase"] == phase] for phase in (0, 1))
    if "sign_agreement" in layers:
        known = np.isfinite(layers["sign_agreement"][:]).any(axis=1)
        compressed = np.concatenate([compressed, layers["step"][:][known]])
    if not len(compressed):
        return None
    before = dense[dense < compressed.max()].max(initial=0)
    return int(compressed[compressed > before].min()) - 1


def jumps(layers, freeze):
    """Returns the layers whose median update norm changes at the freeze by more than a factor of LARGEST_JUMP."""
    if "update_norm" not in layers:
        return []
    at, norms = layers["step"][:], layers["update_norm"][:]
    before = norms[(at > freeze - SURROUNDINGS) & (at <= freeze)]
    after = norms[(at > freeze) & (at <= freeze + SURROUNDINGS)]
    found = []
    for name, one, other in zip(names_of(layers), before.T, after.T):
        one, other = one[np.isfinite(one)], other[np.isfinite(other)]
        if not len(one) or not len(other) or np.median(one) == np.median(other) == 0:
            continue
        ratio = np.median(other) / np.median(one) if np.median(one) > 0 else np.inf
        if not 1 / LARGEST_JUMP <= ratio <= LARGEST_JUMP:
            found.append(f"{name} ({ratio:.3g})")
    return found


# The quantities per layer that are drawn around a freeze, with their labels.
AROUND_FREEZE = {"trust_ratio": "trust ratio", "update_norm": "update norm", "momentum_norm": "momentum norm",
                 "largest_update": "largest |u|"}


def relative_to_before(axes, layers, name, freeze):
    """Draws a quantity of every layer relative to its median before the freeze, and the median over layers."""
    at = layers["step"][:]
    rows = (at > freeze - SURROUNDINGS) & (at <= freeze + SURROUNDINGS)
    values, at = layers[name][rows], at[rows]
    values = np.where(values > 0, values, np.nan)
    values = values[:, np.isfinite(values).any(axis=0) & np.isfinite(values[at <= freeze]).any(axis=0)]
    if not values.size:
        axes.set_axis_off()
        return
    relative = values / np.nanmedian(values[at <= freeze], axis=0)
    if name == "update_norm":
        axes.axhspan(1 / LARGEST_JUMP, LARGEST_JUMP, color=GREY, alpha=0.12, linewidth=0)
    axes.plot(at, relative, color=GREY, alpha=0.5, linewidth=0.7)
    axes.plot(at, np.nanmedian(relative, axis=1), "o-", color=ORANGE, markersize=4, label="median layer")
    axes.set(xlabel="step", ylabel=AROUND_FREEZE[name] + " by layer", yscale="log")
    low, high = axes.get_ylim()
    axes.set_yticks([0.1, 1 / LARGEST_JUMP, 1, LARGEST_JUMP, 10], ["1/10", f"1/{LARGEST_JUMP}", "1", f"{LARGEST_JUMP}",
                                                                  "10"])
    axes.minorticks_off()
    axes.set_ylim(min(low, 0.25), max(high, 4))
    axes.legend(loc="lower left")


def around_freeze(steps, layers, freeze):
    """Draws loss, clip factor and the quantities of layers in the steps before and after the freeze."""
    near = steps[(steps["step"] > freeze - SURROUNDINGS) & (steps["step"] <= freeze + SURROUNDINGS)]
    names = [name for name in AROUND_FREEZE if name in layers]
    figure, places = plt.subplots(-(-(2 + len(names)) // 3), 3, figsize=(10, 3.2 * -(-(2 + len(names)) // 3)), squeeze=False)
    loss, clip, *others = places.flat
    loss.plot(near["step"], near["loss"], "o-", color=BLUE, markersize=4)
    loss.set(xlabel="step", ylabel="training loss (nats)")
    clip.plot(near["step"], near["clip_factor"], "o-", color=GREEN, markersize=4)
    clip.set(xlabel="step", ylabel="clip factor", ylim=(0, 1.05))
    for axes, name in zip(others, names):
        relative_to_before(axes, layers, name, freeze)
    for axes in others[len(names):]:
        axes.set_axis_off()
    for axes in (loss, clip, *others[:len(names)]):
        axes.axvline(freeze + 0.5, color="#222222", linewidth=1, linestyle="--")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def heat_map(layers, quantity, label, limits=None):
    names = names_of(layers)
    at, values = layers["step"][:], layers[quantity][:].T
    if limits:  # a share, which only compressed steps have
        told = np.isfinite(values).any(axis=0)
        at, values = at[told], values[:, told]
    elif "weight_norm" in layers:
        values[layers["weight_norm"][:].T == 0] = np.nan  # tensors of zeros have no ratio
    shown = np.isfinite(values).any(axis=1)
    left_out = [name for name, keep in zip(names, shown) if not keep]
    values, names = values[shown], [name for name, keep in zip(names, shown) if keep]
    if values.size == 0 or values.shape[1] < 2:
        return None, left_out
    if len(at) > 600:  # more columns than pixels only make the file big
        pick = np.linspace(0, len(at) - 1, 600).astype(int)
        at, values = at[pick], values[:, pick]
    edges = np.concatenate([[at[0] - (at[1] - at[0]) / 2], (at[1:] + at[:-1]) / 2, [at[-1] + (at[-1] - at[-2]) / 2]])
    figure, axes = plt.subplots(figsize=(10, 1.2 + 0.17 * len(names)))
    positive = values[np.isfinite(values) & (values > 0)]
    norm = LogNorm(positive.min(), positive.max()) if positive.size and positive.max() > positive.min() else None
    if limits:  # values beyond the limits get the colour at the end
        norm = Normalize(*limits)
    image = axes.pcolormesh(edges, np.arange(len(names) + 1), values, cmap="viridis", norm=norm, rasterized=True)
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=7)
    axes.set(xlabel="step", xlim=(edges[0], edges[-1]))
    axes.invert_yaxis()
    axes.grid(False)
    bar = figure.colorbar(image, ax=axes, label=label, shrink=min(1.0, 8 / len(names) + 0.2), aspect=25,
                          extend="max" if limits and np.nanmax(values) > limits[1] else "neither")
    if norm and not limits:
        plain_log_axis(bar.ax.yaxis)
    return figure, left_out


# The quantities of /layers in the order of the page. Other quantities follow with their names as headings.
QUANTITIES = {"trust_ratio": ("Trust ratio by layer", "trust ratio"),
              "weight_norm": ("Norm of the weights by layer", "norm")}
# Shares in compressed steps, on a linear scale between these limits. An error may be larger than the compressed value.
SHARES = {"worker_error_share": ("Error of the worker's compression by layer", "|e|$^2$ / |z|$^2$", (0, 2)),
          "server_error_share": ("Error of the server's compression by layer", "|d|$^2$ / |y|$^2$", (0, 2)),
          "sign_agreement": ("Agreement of a rank's signs with the mean's by layer", "share of active elements", (0.4, 1))}
# These quantities have no heat map. Within the bounds of the trust ratio, the update norm is the weight norm over it. The
# others are drawn only around the freeze.
NOT_SHOWN = ("name", "step", "update_norm", "momentum_norm", "largest_update")


def heat_maps(layers):
    names = [name for name in QUANTITIES if name in layers]
    names += sorted(name for name in layers if name not in {**QUANTITIES, **SHARES} and name not in NOT_SHOWN)
    for name, share in SHARES.items():
        # With one rank and before the freeze, all shares are NaN.
        if name in layers and np.isfinite(layers[name][:]).any():
            yield share[0], *heat_map(layers, name, *share[1:])
    for name in names:
        words = name.replace("_", " ")
        heading, label = QUANTITIES.get(name, (words.capitalize() + " by layer", words))
        yield heading, *heat_map(layers, name, label)


def page_of(run):
    """Returns the page of a run as HTML."""
    with h5py.File(pathlib.Path(run) / "statistics.h5", "r") as file:
        steps, evaluation, traffic, layers = report_record.record_of(file)
        # Shards of other programs record neither of these, and those of earlier versions only the first.
        recorded = file["evaluation"].attrs
        limits = [(name, recorded[key]) for name, key in (("word frequencies", "frequency_loss"),
                                                          ("context-free loss", "context_free_loss")) if key in recorded]
        parts = [("Loss", losses(steps, evaluation, limits), ""), ("Learning rate and gradient", rates(steps), ""),
                 ("Throughput", speed(steps), ""), ("Gradient noise scale", *noise(steps))]
        freeze, warning = frozen_after(steps, layers), ""
        if freeze is not None:
            parts.insert(0, (f"Around the freeze after step {freeze:,}", around_freeze(steps, layers, freeze),
                             "Dashed: the freeze. Grey lines: one per layer, relative to its median before; the band: "
                             f"within a factor of {LARGEST_JUMP}."))
            if found := jumps(layers, freeze):
                warning = (f"Update norms just after the freeze at step {freeze:,} are not within a factor of {LARGEST_JUMP} "
                           "of those just before it (ratio of medians in brackets): " + ", ".join(found) + ".")
        maps = list(heat_maps(layers))
        folder = pathlib.Path(run).resolve().name
        name = file.attrs.get("run_name", "")
        name = name.decode() if isinstance(name, bytes) else name  # h5py returns fixed-length text as bytes
    body = report_table.summary(steps, evaluation, limits, traffic)
    if warning:
        body += f'\n<p class="warning">Warning: {html.escape(warning)}</p>'
    for heading, figure, left_out in maps:
        text = "Not shown, because they are zero or have no such value at every step: " + ", ".join(left_out) + "."
        if figure is not None:
            parts.append((heading, figure, text if left_out else ""))
    for place, (heading, figure, text) in enumerate(parts):
        body += f"\n<h2>{heading}</h2>"
        if figure is not None:
            body += "\n" + svg_of(figure, f"figure{place}")
        if text:
            body += f"\n<p>{html.escape(text)}</p>"
    title = html.escape(f"{name} ({folder})" if name else f"Bellwether: {folder}")
    return PAGE.format(title=title, body=body)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: report.py RUN OUT.html")
    sys.exit(report_record.draw(page_of, sys.argv[1], sys.argv[2]))
