# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the result of a demonstration: the held-out loss, compared with the loss of word frequencies.

Usage: summary.py OUT PROGRAMS      PROGRAMS: the folder of the program

The limit is the loss of a model that knows the frequencies of words but no context. `prepare` computes it, and the run
records it in statistics.h5. The exit code is 1 if the run did not get below it.
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
        frequencies = float(file["evaluation"].attrs["frequency_loss"])
    loss = evaluation["mlm_loss"][-1]
    below = loss < frequencies
    print(f"""
What happened
  {steps["step"][-1]} steps over {steps["tokens"][-1] / 1e6:.1f} million tokens in {steps["wall_seconds"][-1] / 60:.1f} minutes, {numpy.median(steps["tokens_per_second"]):.0f} tokens/s on 2 ranks
  masked-LM loss on text the model never saw: {evaluation["mlm_loss"][0]:.2f} at step {evaluation["step"][0]}, {loss:.2f} nats at the end
  word frequencies alone cannot do better than {frequencies:.2f} nats (a perplexity of {math.exp(frequencies):.0f}): {"the model uses context" if below else "NOT reached"}
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
    return 0 if below else 1


if __name__ == "__main__":
    sys.exit(main())
