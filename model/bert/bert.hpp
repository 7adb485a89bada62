// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"
#include "core/types.hpp"
#include "model/batch/batch.hpp"
#include "model/bert/gradient_ready.hpp"
#include "model/heads/losses.hpp"
#include "model/layout/bert_layout.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace bellwether::model {

/// Called before the activations of a model are allocated, with its parameter count and their bytes; throws to refuse.
using ApproveMemory = std::function<void(Index parameters, std::int64_t workspace_bytes)>;

/// BERT with its two pre-training heads (Devlin et al., arXiv 1810.04805), computed as Hugging Face does: post-LN,
/// learned positions, tied decoder. Padding is removed: every matrix has T rows, the masked-LM head M. All activations
/// live in one workspace, planned once. Real: float, or double in tests. With ModelConfig::compute bf16 and floats,
/// activations and what meets a matrix are stored in bf16; sums, losses, the gradient along the residuals and those of
/// the parameters stay in float.
template <class Real = float>
class Bert {
 public:
  Bert(Exec const& exec, ModelConfig const& config, Capacity const& capacity, std::uint64_t seed,
       ApproveMemory const& approve = {});
  ~Bert();
  Bert(Bert&&) noexcept;

  BertLayout const& layout() const;
  std::int64_t workspace_bytes() const;

  /// What the passes after this call read, (n): to be said again whenever they have changed, since with bf16 matrices
  /// are rounded here, once, and not in every product.
  void set_parameters(Real const* parameters);
  /// Adds the gradient of scale.mlm * mlm + scale.nsp * nsp to `gradients` (n), with dropout.
  void train(Real* gradients, Batch const& batch, LossScale const& scale, GradientReady const& ready);
  /// The same without dropout and gradients.
  void evaluate(Batch const& batch);
  /// What all passes since the last call have summed, for stored_losses(); at most two such sums wait at a time.
  void store_losses();
  /// The oldest of these. Waits for the passes that they are of, which none of the others does, and for no later ones.
  Losses stored_losses();
  /// Both: waits for all that was given to the execution space.
  Losses take_losses() {
    store_losses();
    return stored_losses();
  }
  /// For tests and tools: (T, C) after the embeddings (0) or after block i (i = 1..L) of the last pass. Waits.
  std::vector<Real> hidden_states(Index i) const;

 private:
  struct Impl;
  template <class Stored>
  struct Model;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::model
