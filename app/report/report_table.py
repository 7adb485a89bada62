# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""The table at the top of a report: the results of a run in numbers."""
import html

import numpy as np


def duration(seconds):
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


def megabytes(count):
    return f"{count / 1e6:,.2f} MB"


def traffic_rows(traffic):
    """Returns the bytes that rank 0 sent in each phase of the run, and those of dense means over the same steps."""
    dense, compressed = traffic
    if compressed["sent_bytes"] == 0:
        return []
    other = compressed["sent_bytes"] - sum(compressed[f"{name}_bytes"] for name in ("worker", "server", "scalar"))
    rows = [(f"sent in {dense['steps']:,} steps before the freeze",
             f"{megabytes(dense['sent_bytes'])}, {megabytes(dense['scalar_bytes'])} of them scalars"),
            (f"sent in {compressed['steps']:,} steps after the freeze",
             f"{megabytes(compressed['sent_bytes'])}: to servers (all-to-all) {megabytes(compressed['worker_bytes'])}, "
             f"from them (all-gather) {megabytes(compressed['server_bytes'])}, "
             + (f"other exchange inside the node {megabytes(other)}, " if other else "")
             + f"scalars and sketches {megabytes(compressed['scalar_bytes'])}")]
    sent, scalars = (dense[name] + compressed[name] for name in ("sent_bytes", "scalar_bytes"))
    for name, wire in (("fp32", "fp32"), ("16bit", "16 bit")):
        whole = dense[f"dense_bytes_{name}"] + compressed[f"dense_bytes_{name}"]
        rows.append((f"dense means in {wire} over these steps",
                     f"{megabytes(whole)}, {whole / sent:.2f} times as much; {whole / (sent - scalars):.2f} without "
                     "scalars and sketches"))
    return rows


def summary(steps, evaluation, limits, traffic):
    """Returns the table of a run as HTML. limits: (name, masked-LM loss) of what a model without context reaches on the
    held-out text; only those that are recorded."""
    last = steps[-1]
    rows = [("steps", f"{last['step']:,}"), ("tokens", f"{last['tokens']:,}"), ("sequences", f"{last['samples']:,}"),
            ("training time", duration(last["wall_seconds"])),
            ("tokens per second", f"{np.nanmedian(steps['tokens_per_second']):,.0f} (median)"),
            ("training loss", f"{np.nanmean(steps['loss'][-50:]):.3f} (mean of the last {min(50, len(steps))} steps)")]
    if len(evaluation):
        end = evaluation[-1]
        rows.append(("held out", f"masked-LM loss {end['mlm_loss']:.3f}, accuracy {100 * end['mlm_accuracy']:.1f} % "
                                 f"at step {end['step']:,}"))
        for name, loss in limits:
            rows.append((name, f"masked-LM loss {loss:.3f}; the held-out loss is "
                               f"{'below it' if end['mlm_loss'] < loss else 'not yet below it'}"))
    sent, inside = np.mean(steps["sent_bytes"]) / 1e6, np.mean(steps["intra_node_bytes"]) / 1e6
    rows.append(("sent by rank 0", f"{sent:,.2f} MB a step, {inside:,.2f} inside its node and {sent - inside:,.2f} to "
                                   "other nodes"))
    rows += traffic_rows(traffic)
    return "<table>" + "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows) + "</table>"
