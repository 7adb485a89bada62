# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the result of a demonstration: the held-out loss, compared with the losses of models without context.

Usage: summary.py OUT PROGRAMS      PROGRAMS: the folder of the program

`prepare` computes these losses, and the run records them in statistics.h5. One is of a model that knows the frequencies
of words alone. The other is of a model that also sees the masked position itself, where masking leaves some predicted
tokens visible. The exit code is 1 if the run did not get below the first: it learnt nothing.
"""
import math
import os
import sys

import h5py
import numpy


def main():
    out, programs = map(os.path.abspath, sys.argv[1:])
    with h5py.File(os.path.join(out, "run", "statistics.h5"), "r") as file:
        steps, evaluation = file["steps"][:], file["evaluation"][:]
        frequencies, context_free = (float(file["evaluation"].attrs[name]) for name in ("frequency_loss",
                                                                                        "context_free_loss"))
    loss = evaluation["mlm_loss"][-1]
    if loss < context_free:
        verdict = "the model uses context"
    elif loss < frequencies:
        verdict = "not below yet; more steps teach context"
    else:
        verdict = "NOT below word frequencies: the model learnt nothing"
    print(f"""
What happened
  {steps["step"][-1]} steps over {steps["tokens"][-1] / 1e6:.1f} million tokens in {steps["wall_seconds"][-1] / 60:.1f} minutes, {numpy.median(steps["tokens_per_second"]):.0f} tokens/s on 2 ranks
  masked-LM loss on text the model never saw: {evaluation["mlm_loss"][0]:.2f} at step {evaluation["step"][0]}, {loss:.2f} nats at the end
  word frequencies alone cannot do better than {frequencies:.2f} nats (a perplexity of {math.exp(frequencies):.0f})
  no model without context does better than {context_free:.2f} nats: {verdict}
  it guesses {100 * evaluation["mlm_accuracy"][-1]:.1f} % of the hidden words

Where the files are
  {out}/corpus.txt   the text (unless you brought your own)
  {out}/shards       vocab.txt, and tokens as HDF5: 5 % of the documents under heldout/
  {out}/demo.yaml    the deck: every setting of the run
  {out}/run          checkpoints, statistics.h5, and the deck with every default filled in

What to try next
  cd {out}; export PATH={programs}:$PATH
  bellwether report run                                  pictures of loss, rate and trust ratios
  bellwether check demo.yaml                             memory, traffic and steps before a run
  bellwether train demo.yaml --set run.directory=longer --set schedule.steps=5000
""")
    return 0 if loss < frequencies else 1


if __name__ == "__main__":
    sys.exit(main())
