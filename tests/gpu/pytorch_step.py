#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Times BERT pre-training steps with PyTorch on a GPU, with the settings of `bellwether bench step`: full-length random
input, both losses, logits only of masked positions, dropout 0.1, fused AdamW, bf16 by autocast, optional torch.compile.
Prints one line of JSON with the median step time."""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

SIZES = {"tiny": (2, 128, 2), "mini": (4, 256, 4), "small": (4, 512, 8), "medium": (8, 512, 8), "base": (12, 768, 12),
         "large": (24, 1024, 16)}
VOCABULARY, DROPOUT = 30522, 0.1


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm_attention, self.norm_output = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        context = F.scaled_dot_product_attention(q, k, v, dropout_p=DROPOUT)
        x = self.norm_attention(x + self.drop(self.out(context.transpose(1, 2).reshape(batch, length, width))))
        return self.norm_output(x + self.drop(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.word, self.position = nn.Embedding(VOCABULARY, width), nn.Embedding(512, width)
        self.segment, self.norm, self.drop = nn.Embedding(2, width), nn.LayerNorm(width, 1e-12), nn.Dropout(DROPOUT)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.transform, self.transform_norm = nn.Linear(width, width), nn.LayerNorm(width, 1e-12)
        self.decoder_bias = nn.Parameter(torch.zeros(VOCABULARY))
        self.pooler, self.next_sentence = nn.Linear(width, width), nn.Linear(width, 2)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, ids, segments, masked_rows, labels, next_labels):
        length = ids.shape[1]
        x = self.drop(self.norm(self.word(ids) + self.position.weight[:length] + self.segment(segments)))
        for block in self.blocks:
            x = block(x)
        hidden = x.flatten(0, 1).index_select(0, masked_rows)
        hidden = self.transform_norm(F.gelu(self.transform(hidden)))
        masked_loss = F.cross_entropy(F.linear(hidden, self.word.weight, self.decoder_bias.to(hidden.dtype)).float(), labels)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return masked_loss + F.cross_entropy(self.next_sentence(pooled).float(), next_labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=SIZES, default="large")
    parser.add_argument("--sequences", type=int, default=64)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--masked", type=int, default=20)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    options = parser.parse_args()

    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    layers, width, heads = SIZES[options.model]
    with torch.device("cuda"):
        model = Bert(layers, width, heads)
        ids = torch.randint(0, VOCABULARY, (options.sequences, options.length))
        segments = (torch.arange(options.length) > options.length // 2).long().expand_as(ids).contiguous()
        masked = torch.arange(options.masked) * (options.length - 1) // options.masked + 1
        rows = (torch.arange(options.sequences)[:, None] * options.length + masked).flatten()
        labels = torch.randint(0, VOCABULARY, rows.shape)
        next_labels = torch.randint(0, 2, (options.sequences,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    loss_of = model if options.eager else torch.compile(model)

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(ids, segments, rows, labels, next_labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    first = step().item()
    for _ in range(4):
        step()
    seconds = []
    for _ in range(options.calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        last = step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    if not last.item() < first:
        raise SystemExit("the loss did not fall")
    median = statistics.median(seconds)
    print(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "model": options.model,
                      "sequences": options.sequences, "compiled": not options.eager, "step_seconds": median,
                      "fastest_seconds": min(seconds), "sequences_per_second": options.sequences / median,
                      "memory_bytes": torch.cuda.max_memory_allocated()}))


if __name__ == "__main__":
    main()
