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

/// Receives the parameter count and the bytes of the activations of a model before they are allocated. Throws to
/// refuse.
using ApproveMemory = std::function<void(Index parameters, std::int64_t workspace_bytes)>;

/// BERT with its two pre-training heads (Devlin et al., arXiv 1810.04805), computed as in Hugging Face's code: post-LN,
/// learned positions, tied decoder. Padding is removed: matrices have T rows, those of the masked-LM head M. One
/// workspace holds all activations. Real: float, or double in tests. With ModelConfig::compute bf16, activations and
/// the operands of matrix products are stored in bf16. Sums, losses, the gradient along the residual connections and
/// the gradients of the parameters stay in float.
template <class Real = float>
class Bert {
 public:
  Bert(Exec const& exec, ModelConfig const& config, Capacity const& capacity, std::uint64_t seed,
       ApproveMemory const& approve = {});
  ~Bert();
  Bert(Bert&&) noexcept;

  BertLayout const& layout() const;
  std::int64_t workspace_bytes() const;

  /// Sets the parameters (n) that the next micro-batches use. Call it after every change of them: with bf16, this call
  /// rounds all matrices once.
  void set_parameters(Real const* parameters);
  /// Forward and backward of a micro-batch, with dropout. Adds the gradient of scale.mlm * mlm + scale.nsp * nsp to
  /// `gradients` (n).
  void train(Real* gradients, Batch const& batch, LossScale const& scale, GradientReady const& ready);
  /// Computes the losses without dropout and without gradients.
  void evaluate(Batch const& batch);
  /// Enqueues a copy of the losses summed since the last call, for stored_losses(). At most two such sums may be
  /// unread.
  void store_losses();
  /// Returns the oldest unread sum. Waits for the micro-batches that belong to it, but not for later ones.
  Losses stored_losses();
  /// Calls store_losses() and stored_losses(). Waits for all work enqueued on the execution space.
  Losses take_losses() {
    store_losses();
    return stored_losses();
  }
  /// For tests and tools: activations (T, C) of the last micro-batch after the embeddings (i = 0) or block i (1..L).
  /// Waits.
  std::vector<Real> hidden_states(Index i) const;

 private:
  struct Impl;
  template <class Stored>
  struct Model;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::model
