// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/bert_layout.hpp"
#include "model/device_batch.hpp"

namespace bellwether::model {

/// Masked-LM head on the M masked rows with the decoder tied to the word embeddings, and next-sentence head on the
/// pooled first row of each sequence. Losses and gradients are formed together, a strip of logits at a time, so that
/// (M, V) never exists whole.
template <class Real>
class PretrainingHeads {
 public:
  PretrainingHeads(Exec const& exec, ModelConfig const& config, BertLayout const& layout, Capacity const& capacity,
                   Workspace& workspace);

  /// Adds to the losses. hidden: (T, C), the encoder's output. gradients: (n), added to, and dhidden: (T, C),
  /// overwritten; both null: losses only. partial: scratch, (row_blocks(T), max(3 C, F)).
  void run(Real const* parameters, Real* gradients, DeviceBatch const& batch, LossScale const& scale,
           Real const* hidden, Real* dhidden, Real* partial);
  /// Those of all runs since the last call.
  Losses take_losses();

 private:
  void masked_forward(Real const* parameters, DeviceBatch const& batch, Real const* hidden);
  void masked_losses(Real const* parameters, Real* gradients, DeviceBatch const& batch, Real scale);
  void masked_backward(Real const* parameters, Real* gradients, DeviceBatch const& batch, Real* dhidden, Real* partial);
  void next_sentence(Real const* parameters, Real* gradients, DeviceBatch const& batch, Real scale, Real const* hidden,
                     Real* dhidden, Real* partial);

  Exec exec_;
  ModelConfig config_;
  BertLayout const& layout_;
  Index strip_;                               // rows of logits at a time
  Real *rows_, *pre_, *activated_, *normed_;  // (M, C)
  Real *mean_, *inverse_deviation_;           // (M)
  Real* logits_;                              // (strip, V)
  Real* strip_partial_;                       // (row_blocks(strip), V)
  Real *first_, *pooled_, *next_logits_;      // (B, C), (B, C), (B, 2)
  Real *dnormed_, *dpooled_;                  // (M, C), (B, C)
  double *loss_, *correct_;                   // (max(M, B))
  Kokkos::View<double[4], Mem> totals_;
  Kokkos::View<double[4], Mem>::host_mirror_type host_totals_;
};

}  // namespace bellwether::model
