// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "core/config_visitor.hpp"

namespace bellwether::model {

enum class Activation { gelu_erf, gelu_tanh };

/// Deck section `model`: the dimensions of BERT (Devlin et al., arXiv 1810.04805).
struct ModelConfig {
  std::int64_t vocabulary = 30522;   // V
  std::int64_t hidden = 256;         // C
  std::int64_t layers = 4;           // L
  std::int64_t heads = 4;            // H
  std::int64_t feed_forward = 1024;  // F
  std::int64_t positions = 512;
  std::int64_t segments = 2;
  Activation activation = Activation::gelu_erf;
  double hidden_dropout = 0.1;
  double attention_dropout = 0.1;
  double layer_norm_epsilon = 1e-12;
  double initial_deviation = 0.02;
  ComputeType compute = ComputeType::fp32;

  void describe(ConfigVisitor& visit) {
    visit.field({.name = "vocabulary",
                 .help = "entries of the vocabulary, V",
                 .unit = "tokens",
                 .minimum = 8,
                 .maximum = 1 << 24},
                vocabulary);
    visit.field({.name = "hidden", .help = "hidden width C, a multiple of heads", .minimum = 2, .maximum = 65536},
                hidden);
    visit.field({.name = "layers", .help = "transformer blocks, L", .minimum = 1, .maximum = 1024}, layers);
    visit.field({.name = "heads", .help = "attention heads, H", .minimum = 1, .maximum = 1024}, heads);
    visit.field({.name = "feed_forward", .help = "width F of the feed-forward layer", .minimum = 1, .maximum = 1 << 20},
                feed_forward);
    visit.field({.name = "positions",
                 .help = "rows of the position embedding, at least the sequence length of the data",
                 .unit = "tokens",
                 .minimum = 4,
                 .maximum = 1 << 20},
                positions);
    visit.field({.name = "segments", .help = "rows of the segment embedding", .minimum = 2, .maximum = 64}, segments);
    visit.choice({.name = "activation",
                  .help = "GELU with erf (the paper, Hugging Face), or its tanh approximation (NVIDIA's later code)"},
                 {"gelu_erf", "gelu_tanh"}, activation);
    visit.field({.name = "hidden_dropout",
                 .help = "probability of zeroing an element after embeddings and each sub-layer",
                 .minimum = 0,
                 .maximum = 1,
                 .maximum_allowed = false},
                hidden_dropout);
    visit.field({.name = "attention_dropout",
                 .help = "probability of zeroing an attention weight",
                 .minimum = 0,
                 .maximum = 1,
                 .maximum_allowed = false},
                attention_dropout);
    visit.field({.name = "layer_norm_epsilon",
                 .help = "added to the variance in layer normalisation",
                 .minimum = 0,
                 .maximum = 1,
                 .minimum_allowed = false},
                layer_norm_epsilon);
    visit.field(
        {.name = "initial_deviation", .help = "standard deviation of initial weights", .minimum = 0, .maximum = 10},
        initial_deviation);
    visit.choice(
        {.name = "compute",
         .help = "type in which matrices and activations are stored and multiplied; sums, the trained weights, their "
                 "gradients and the optimizer always use fp32"},
        {"fp32", "bf16"}, compute);
  }
};

}  // namespace bellwether::model
