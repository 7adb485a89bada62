# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes bert_reference.json and bert_reference.f32: results of Hugging Face's BertForPreTraining in double.

    python bert_reference.py [FOLDER]      needs torch and transformers

The model tests compare their forward and backward passes with it. Dropout is off. Weights are not stored: element k
(row-major, counted from 0) of the tensor `name` is

    h = mix32(fnv1a32(name) + 0x9E3779B9 * k)              all mod 2^32
    w = 0.125 * (2 * (h >> 8) / 2^24 - 1)                  exact in fp32;  1 + w where name ends in LayerNorm.weight

with fnv1a32 over the bytes of the name and mix32 the finaliser of MurmurHash3. A sine of k would not do, because
sin(a k + b) over rows and columns is a matrix of rank two. The batch in the file has no padding, as in
model/batch/batch.hpp. The reference runs on the padded batch with an attention mask.

bert_reference.f32 holds little-endian floats. In the JSON every array is [first, count] in floats of that file.
cases[] has: config, batch, loss {mlm, nsp: means; total: their sum}, hidden (T, C) after the embeddings and each
block, pooled (B, C), mlm_logits (M, V), nsp_logits (B, 2), and gradients of the total loss. These have, for each
tensor name, the norm (of the values in double) and all values.
"""

import json
import pathlib
import re
import sys

import numpy as np
import torch
import transformers

SHAPES = [
    # Three different lengths, the longest uses all positions; one sequence has no masked tokens.
    dict(name="small_erf", activation="gelu_erf", vocabulary=61, hidden=24, layers=2, heads=3, feed_forward=40,
         positions=16, segments=2, lengths=[5, 16, 9], masked=[[1], [3, 7, 15], []], next_labels=[0, 1, 1]),
    # Four lengths, the shortest a single token; some positions are unused.
    dict(name="deep_erf", activation="gelu_erf", vocabulary=101, hidden=32, layers=3, heads=4, feed_forward=64,
         positions=24, segments=2, lengths=[12, 1, 20, 7], masked=[[0, 4, 11], [], [2, 3, 10, 19], [6]],
         next_labels=[1, 0, 0, 1]),
    dict(name="small_tanh", activation="gelu_tanh", vocabulary=61, hidden=24, layers=1, heads=2, feed_forward=33,
         positions=16, segments=2, lengths=[11, 4], masked=[[2, 10], [1]], next_labels=[1, 0]),
]
HUGGING_FACE_ACTIVATION = {"gelu_erf": "gelu", "gelu_tanh": "gelu_pytorch_tanh"}
WORD = 0xFFFFFFFF


def fnv1a32(name):
    hash_ = 0x811C9DC5
    for byte in name.encode():
        hash_ = ((hash_ ^ byte) * 0x01000193) & WORD
    return hash_


def mix32(h):
    """h: uint64 holding 32-bit values."""
    h = h & WORD
    h = (h ^ (h >> 16)) * 0x85EBCA6B & WORD
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & WORD
    return h ^ (h >> 16)


def hashed(name, count):
    k = np.arange(count, dtype=np.uint64)
    return mix32(np.uint64(fnv1a32(name)) + np.uint64(0x9E3779B9) * k)


def weight(name, shape):
    count = int(np.prod(shape))
    w = 0.125 * (2.0 * (hashed(name, count) >> np.uint64(8)).astype(np.float64) / 2**24 - 1.0)
    if name.endswith("LayerNorm.weight"):
        w = np.float32(1.0 + w).astype(np.float64)
    assert np.all(w == np.float32(w))
    return w.reshape(shape)


class Floats:
    """Collects arrays for the binary file."""

    def __init__(self):
        self.parts, self.count = [], 0

    def add(self, values):
        values = np.ascontiguousarray(values, dtype="<f4").ravel()
        first, self.count = self.count, self.count + values.size
        self.parts.append(values)
        return [first, int(values.size)]


def make_batch(shape):
    """Returns a batch with token ids from the same hash. None is 0, because Hugging Face gives [PAD] no gradient."""
    total = sum(shape["lengths"])
    tokens = 1 + (hashed(shape["name"] + "/tokens", total) % np.uint64(shape["vocabulary"] - 1)).astype(np.int64)
    labels = 1 + (hashed(shape["name"] + "/labels", total) % np.uint64(shape["vocabulary"] - 1)).astype(np.int64)
    segments, offsets, rows = [], [0], []
    for length, masked in zip(shape["lengths"], shape["masked"]):
        segments += [int(i >= (length + 1) // 2) for i in range(length)]
        rows += [offsets[-1] + i for i in masked]
        offsets.append(offsets[-1] + length)
    return dict(token_ids=tokens.tolist(), segment_ids=segments, sequence_offsets=offsets, masked_rows=rows,
                masked_labels=[int(labels[row]) for row in rows], next_labels=shape["next_labels"])


def padded(batch, shape):
    sequences, longest = len(shape["lengths"]), max(shape["lengths"])
    arrays = dict(input_ids=np.zeros((sequences, longest), np.int64),
                  token_type_ids=np.zeros((sequences, longest), np.int64),
                  attention_mask=np.zeros((sequences, longest), np.int64),
                  labels=np.full((sequences, longest), -100, np.int64))
    label_of = dict(zip(batch["masked_rows"], batch["masked_labels"]))
    for b, length in enumerate(shape["lengths"]):
        first = batch["sequence_offsets"][b]
        arrays["input_ids"][b, :length] = batch["token_ids"][first:first + length]
        arrays["token_type_ids"][b, :length] = batch["segment_ids"][first:first + length]
        arrays["attention_mask"][b, :length] = 1
        for i in range(length):
            arrays["labels"][b, i] = label_of.get(first + i, -100)
    return {name: torch.from_numpy(values) for name, values in arrays.items()}


def build(shape):
    config = transformers.BertConfig(
        vocab_size=shape["vocabulary"], hidden_size=shape["hidden"], num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"], intermediate_size=shape["feed_forward"],
        max_position_embeddings=shape["positions"], type_vocab_size=shape["segments"],
        hidden_act=HUGGING_FACE_ACTIVATION[shape["activation"]], hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, layer_norm_eps=1e-12, attn_implementation="eager")
    model = transformers.BertForPreTraining(config).double().eval()
    # The decoder is tied to the word embeddings and the bias, so named_parameters() has each tensor once.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(weight(name, tuple(parameter.shape))))
    decoder = model.cls.predictions.decoder
    assert decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert decoder.bias is model.cls.predictions.bias
    return model


def reference(shape, floats):
    model, batch = build(shape), make_batch(shape)
    inputs = padded(batch, shape)
    labels = inputs.pop("labels")
    result = model(**inputs, labels=labels, next_sentence_label=torch.tensor(shape["next_labels"]),
                   output_hidden_states=True)
    real = inputs["attention_mask"].bool()
    masked = labels[real] != -100
    mlm = torch.nn.functional.cross_entropy(result.prediction_logits[real][masked], labels[real][masked])
    nsp = torch.nn.functional.cross_entropy(result.seq_relationship_logits, torch.tensor(shape["next_labels"]))
    assert abs((mlm + nsp - result.loss).item()) < 1e-12
    result.loss.backward()
    pooled = model.bert(**inputs).pooler_output
    gradients = {}
    for name, parameter in model.named_parameters():
        gradient = parameter.grad.numpy()
        gradients[name] = dict(shape=list(gradient.shape), norm=float(np.linalg.norm(gradient)),
                               values=floats.add(gradient))
    dimensions = ("vocabulary", "hidden", "layers", "heads", "feed_forward", "positions", "segments", "activation")
    return dict(name=shape["name"], config={key: shape[key] for key in dimensions}, batch=batch,
                loss=dict(mlm=mlm.item(), nsp=nsp.item(), total=result.loss.item()),
                hidden=[dict(norm=h[real].norm().item(), values=floats.add(h[real].detach().numpy()))
                        for h in result.hidden_states],
                pooled=floats.add(pooled.detach().numpy()),
                mlm_logits=floats.add(result.prediction_logits[real][masked].detach().numpy()),
                nsp_logits=floats.add(result.seq_relationship_logits.detach().numpy()), gradients=gradients)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    floats = Floats()
    cases = [reference(shape, floats) for shape in SHAPES]
    checks = {name: [float(w) for w in weight(name, (3,))]
              for name in ("bert.embeddings.word_embeddings.weight", "bert.embeddings.LayerNorm.weight")}
    document = dict(generator=f"torch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}",
                    first_weights=checks, cases=cases)
    text = json.dumps(document, indent=1)
    text = re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\s+", " ", found.group()), text)
    (folder / "bert_reference.json").write_text(text + "\n")
    np.concatenate(floats.parts).tofile(folder / "bert_reference.f32")
    for case in cases:
        largest = max(g["norm"] for g in case["gradients"].values())
        print(case["name"], case["loss"], f"largest gradient norm {largest:.3g}")


if __name__ == "__main__":
    main()
