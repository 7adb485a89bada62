# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Repeats a Bellwether run with Hugging Face's BertForPreTraining. It uses the same initial weights, order of samples,
(static) masks, hyperparameters, steps and held-out sequences. Only the random numbers of dropout differ.

    python pytorch_twin.py RUN INITIAL_CHECKPOINT OUT.csv

RUN is the run directory, whose deck.resolved.yaml it reads. INITIAL_CHECKPOINT is a checkpoint folder with the initial
weights. It writes a line to OUT.csv at each evaluation, and the state from which a second call continues to
OUT.csv.state. Needs torch, transformers, h5py and pyyaml.
"""
import csv
import pathlib
import sys
import time

import h5py
import numpy as np
import torch
import transformers
import yaml

from sample_order import sample_order

TENSORS = ["input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels"]


def shard_files(places):
    files = []
    for place in map(pathlib.Path, places):
        files += sorted(f for f in place.iterdir() if f.suffix in (".h5", ".hdf5")) if place.is_dir() else [place]
    return files


def load(files):
    shards = []
    for file in files:
        with h5py.File(file) as shard:
            shards.append({name: torch.from_numpy(shard[name][:].astype(np.int64)) for name in TENSORS})
    return shards


def gather(shards, places):
    return {name: torch.stack([shards[s][name][r] for s, r in places]) for name in TENSORS}


def predictions(batch):
    """Returns (rows of the padded, flattened batch; labels). A row's predictions end at its first position 0."""
    used = (batch["masked_lm_positions"] > 0).cumprod(1).bool()
    first = torch.arange(len(used))[:, None] * batch["input_ids"].shape[1]
    return (first + batch["masked_lm_positions"])[used], batch["masked_lm_ids"][used]


def losses(model, batch):
    """Returns sums over predictions and sequences, and the number of correct predictions. Drops common padding."""
    longest = int(batch["input_mask"].sum(1).max())
    batch = {name: values[:, :longest] if name in TENSORS[:3] else values for name, values in batch.items()}
    hidden, pooled = model.bert(batch["input_ids"], batch["input_mask"], batch["segment_ids"], return_dict=False)[:2]
    rows, labels = predictions(batch)
    scores = model.cls.predictions(hidden.reshape(-1, hidden.shape[-1])[rows])
    masked = torch.nn.functional.cross_entropy(scores, labels, reduction="sum")
    pairs = torch.nn.functional.cross_entropy(
        model.cls.seq_relationship(pooled), batch["next_sentence_labels"], reduction="sum")
    return masked, pairs, int((scores.argmax(1) == labels).sum())


class Lamb:
    """LAMB (arXiv 1904.00962, algorithm 2; a tensor is a layer) with the choices of arXiv 2104.06069: no bias
    correction, epsilon outside the root, clamped ratio."""

    def __init__(self, parameters, config):
        self.config, self.state = config, [(name, x, torch.zeros_like(x), torch.zeros_like(x)) for name, x in parameters]

    @torch.no_grad()
    def step(self, rate):
        c = self.config
        norm = float(torch.sqrt(sum(x.grad.double().square().sum() for _, x, _, _ in self.state)))
        factor = c["clip"] / norm if norm > c["clip"] else 1.0
        for name, x, m, v in self.state:
            g = x.grad * factor
            m.mul_(c["beta1"]).add_(g, alpha=1 - c["beta1"])
            v.mul_(c["beta2"]).addcmul_(g, g, value=1 - c["beta2"])
            u = m / (v.sqrt() + c["epsilon"])
            if x.dim() > 1:
                u.add_(x, alpha=c["weight_decay"])
            weight, update = float(x.norm()), float(u.norm())
            ratio = min(max(weight / update, c["min_coefficient"]), c["max_coefficient"]) if weight and update else 1.0
            x.sub_(u, alpha=rate * ratio)
            x.grad = None


def build(config, checkpoint):
    model = transformers.BertForPreTraining(transformers.BertConfig(
        vocab_size=config["vocabulary"], hidden_size=config["hidden"], num_hidden_layers=config["layers"],
        num_attention_heads=config["heads"], intermediate_size=config["feed_forward"],
        max_position_embeddings=config["positions"], type_vocab_size=config["segments"],
        hidden_act={"gelu_erf": "gelu", "gelu_tanh": "gelu_pytorch_tanh"}[config["activation"]],
        hidden_dropout_prob=config["hidden_dropout"], attention_probs_dropout_prob=config["attention_dropout"],
        layer_norm_eps=config["layer_norm_epsilon"], attn_implementation="sdpa"))
    with h5py.File(checkpoint / "replicated.h5") as file:
        weights = {name: torch.from_numpy(values[:]) for name, values in file["parameters"].items()}
    names = [name for name, _ in model.named_parameters()]
    assert sorted(names) == sorted(weights), set(names) ^ set(weights)
    model.load_state_dict(weights, strict=False)
    assert all(torch.equal(x, weights[name]) for name, x in model.named_parameters())
    trained = []
    for name, x in model.named_parameters():
        if name.endswith("key.bias"):  # its exact gradient is zero: not trained
            x.requires_grad_(False)
        else:
            trained.append((name, x))
    return model, trained


def rate_of(schedule, peak, step):
    assert schedule["warmup"] == "linear" and schedule["decay"] == "linear" and not schedule["final_fraction"]
    warmup = schedule["warmup_steps"]
    return peak * (step / warmup if step < warmup else 1 - (step - warmup) / (schedule["steps"] - warmup))


def evaluate(model, batch, micro):
    model.eval()
    masked = right = count = 0
    with torch.no_grad():
        for first in range(0, len(batch["input_ids"]), micro):
            part = {name: values[first:first + micro] for name, values in batch.items()}
            loss, _, correct = losses(model, part)
            masked, right, count = masked + float(loss), right + correct, count + len(predictions(part)[1])
    model.train()
    return masked / count, right / count


def save(path, model, optimizer, step, tokens, seconds):
    moments = [(m, v) for _, _, m, v in optimizer.state]
    torch.save((model.state_dict(), moments, torch.get_rng_state(), step, tokens, seconds), f"{path}.part")
    pathlib.Path(f"{path}.part").replace(path)


def restore(path, model, optimizer, order, size):
    """Returns the step to continue with, and the tokens and seconds before it."""
    weights, moments, random_state, step, tokens, seconds = torch.load(path)
    model.load_state_dict(weights)
    for (_, _, m, v), (saved_m, saved_v) in zip(optimizer.state, moments):
        m.copy_(saved_m)
        v.copy_(saved_v)
    torch.set_rng_state(random_state)
    for _ in range(step * size):
        next(order)
    return step + 1, tokens, seconds


def main(run, checkpoint, out):
    deck = yaml.safe_load((run / "deck.resolved.yaml").read_text())
    data, micro, size = deck["data"], deck["batch"]["micro"], deck["batch"]["global"]
    assert not data["dynamic_masking"] and deck["optimizer"]["method"] == "lamb"
    assert not deck["optimizer"]["bias_correction"]
    torch.manual_seed(deck["run"]["seed"])
    model, trained = build(deck["model"], checkpoint)
    model.train()
    optimizer = Lamb(trained, deck["optimizer"])
    shards, heldout = load(shard_files(data["train"])), load(shard_files(data["heldout"]))
    held = gather(heldout, [(s, r) for s in range(len(heldout)) for r in range(len(heldout[s]["input_ids"]))]
                  [:deck["statistics"]["evaluate_sequences"]])
    chunk = 1024  # rows of a compressed chunk in the shards
    order = sample_order(deck["run"]["seed"], 0, [len(s["input_ids"]) for s in shards], chunk, data["window"])
    saved = pathlib.Path(f"{out}.state")
    first, tokens, seconds = restore(saved, model, optimizer, order, size) if saved.exists() else (1, 0, 0.0)
    started = time.time() - seconds
    with open(out, "a" if first > 1 else "w", newline="") as file:
        writer = csv.writer(file)
        if first == 1:
            writer.writerow(["step", "tokens", "train_loss", "heldout_mlm_loss", "heldout_mlm_accuracy", "seconds"])
        for step in range(first, deck["schedule"]["steps"] + 1):
            batch = gather(shards, [next(order) for _ in range(size)])
            count, loss = len(predictions(batch)[1]), 0.0
            by_length = torch.argsort(batch["input_mask"].sum(1))  # little padding in a micro-batch
            for part in by_length.split(micro):
                masked, pairs, _ = losses(model, {name: values[part] for name, values in batch.items()})
                total = masked / count + pairs / size
                total.backward()
                loss += float(total.detach())
            tokens += int(batch["input_mask"].sum())
            optimizer.step(rate_of(deck["schedule"], deck["optimizer"]["lr"], step))
            if step % deck["statistics"]["evaluate_every"] == 0 or step == deck["schedule"]["steps"]:
                seconds = time.time() - started
                writer.writerow([step, tokens, loss, *evaluate(model, held, micro), round(seconds, 1)])
                file.flush()
                save(saved, model, optimizer, step, tokens, seconds)
            if step % 10 == 0:
                print(step, f"{loss:.4f} {tokens / (time.time() - started):.0f} tokens/s", flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
