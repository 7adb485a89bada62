# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes lamb_trace.json: LAMB in double on two small layers, for the optimizer's test. Needs numpy.

Layer 0 has 7 elements, x[k] = 0.5 sin(k + 1), decay 0.01; layer 1 has 9, x[k] = 0.2 cos k, no decay. The gradient of
rank i at step t is h (sin(0.7 t + k + p i) + 0.25 cos(1.3 t k + i)) with h = 0.1 and 0.02. k counts from 0 in each
layer, p is the phase of the trace. LAMB gets the mean over the ranks. Learning rate 0.01, betas 0.9 and 0.999,
epsilon 1e-8 outside the root, trust ratio in [0.01, 0.3], no clipping. Ten digits are kept.
"""

import json
import pathlib
import sys

import numpy as np

BETA1, BETA2, EPSILON, RATE, LEAST, MOST = 0.9, 0.999, 1e-8, 0.01, 0.01, 0.3
LAYERS = [dict(x=0.5 * np.sin(np.arange(7) + 1.0), height=0.1, decay=0.01),
          dict(x=0.2 * np.cos(np.arange(9) * 1.0), height=0.02, decay=0.0)]


def gradient(layer, t, rank, phase):
    k = np.arange(layer["x"].size)
    return layer["height"] * (np.sin(0.7 * t + k + phase * rank) + 0.25 * np.cos(1.3 * t * k + rank))


def trace(ranks, phase, steps, correct):
    x = [layer["x"].copy() for layer in LAYERS]
    m = [np.zeros_like(values) for values in x]
    v = [np.zeros_like(values) for values in x]
    rows = []
    for t in range(1, steps + 1):
        row = dict(trust_ratio=[], weight_norm=[], update_norm=[])
        for l, layer in enumerate(LAYERS):
            g = np.mean([gradient(layer, t, rank, phase) for rank in range(ranks)], axis=0)
            m[l] = BETA1 * m[l] + (1 - BETA1) * g
            v[l] = BETA2 * v[l] + (1 - BETA2) * g * g
            m_hat = m[l] / (1 - BETA1**t) if correct else m[l]
            v_hat = v[l] / (1 - BETA2**t) if correct else v[l]
            u = m_hat / (np.sqrt(v_hat) + EPSILON) + layer["decay"] * x[l]
            weight_norm, update_norm = np.linalg.norm(x[l]), np.linalg.norm(u)
            ratio = float(np.clip(weight_norm / update_norm, LEAST, MOST))
            x[l] = x[l] - RATE * ratio * u
            row["trust_ratio"].append(ratio)
            row["weight_norm"].append(float(weight_norm))
            row["update_norm"].append(float(update_norm))
        row["x"] = np.concatenate(x).tolist()
        rows.append(row)
    return dict(ranks=ranks, phase=phase, bias_correction=correct, steps=rows)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    traces = [trace(1, 3.0, 5, False), trace(2, 3.0, 5, False), trace(3, 1.1, 5, False), trace(4, 1.1, 5, True)]
    rounded = json.loads(json.dumps(dict(traces=traces)), parse_float=lambda text: float(f"{float(text):.10g}"))
    (folder / "lamb_trace.json").write_text(json.dumps(rounded) + "\n")
    for row in traces[1]["steps"]:
        print(row["trust_ratio"], row["weight_norm"], [float(np.linalg.norm(row["x"][:7])), float(np.linalg.norm(row["x"][7:]))])


if __name__ == "__main__":
    main()
