# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Says what a demonstration did: held-out loss against what word frequencies alone can reach.

Usage: summary.py OUT PROGRAMS, PROGRAMS the folder of the program

The bar is the unigram entropy of the training text: -sum p ln p over the frequencies p of its tokens, in nats. A model
that has learnt frequencies and nothing of context stops there. Ends with status 1 if the run did not get below.
"""
import glob
import math
import os
import sys

import h5py
import numpy

FIRST_WORD = 5  # [PAD] [UNK] [CLS] [SEP] [MASK] stand before it and are never predicted


def unigram_entropy(folder):
    """Nats a token, over the unmasked ids of all shards of a folder."""
    counts = numpy.zeros(0, dtype=numpy.int64)
    for path in glob.glob(os.path.join(folder, "*.h5")) + glob.glob(os.path.join(folder, "*.hdf5")):
        with h5py.File(path, "r") as shard:
            new = numpy.bincount(shard["input_ids"][:][shard["input_mask"][:] != 0])
        size = max(len(counts), len(new))
        counts = numpy.pad(counts, (0, size - len(counts))) + numpy.pad(new, (0, size - len(new)))
    share = counts[FIRST_WORD:][counts[FIRST_WORD:] > 0] / counts[FIRST_WORD:].sum()
    return float(-(share * numpy.log(share)).sum())


def main():
    out, programs = map(os.path.abspath, sys.argv[1:])
    entropy = unigram_entropy(os.path.join(out, "shards"))
    with h5py.File(os.path.join(out, "run", "statistics.h5"), "r") as file:
        steps, evaluation = file["steps"][:], file["evaluation"][:]
    loss = evaluation["mlm_loss"][-1]
    below = loss < entropy
    print(f"""
What happened
  {steps["step"][-1]} steps over {steps["tokens"][-1] / 1e6:.1f} million tokens in {steps["wall_seconds"][-1] / 60:.1f} minutes, {numpy.median(steps["tokens_per_second"]):.0f} tokens/s on 2 ranks
  masked-LM loss on text the model never saw: {evaluation["mlm_loss"][0]:.2f} at step {evaluation["step"][0]}, {loss:.2f} nats at the end
  word frequencies alone cannot do better than {entropy:.2f} nats (a perplexity of {math.exp(entropy):.0f}): {"the model uses context" if below else "NOT reached"}
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
