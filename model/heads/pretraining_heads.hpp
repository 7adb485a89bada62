// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "core/simd/bf16.hpp"
#include "model/batch/device_batch.hpp"
#include "model/heads/losses.hpp"
#include "model/layout/bert_layout.hpp"
#include "model/layout/parameters.hpp"

#include <span>

namespace bellwether::model {

/// Masked-LM head on the M masked rows, with the decoder tied to the word embeddings, and next-sentence head on the
/// pooled first row of each sequence. Losses and gradients are computed together for a strip of rows of logits at a
/// time, so that the (M, V) matrix is never stored. Types as in Encoder.
template <class Real, class Stored>
class PretrainingHeads {
 public:
  PretrainingHeads(Exec const& exec, ModelConfig const& config, BertLayout const& layout, Capacity const& capacity,
                   Workspace& workspace);

  /// A batch at the heads, and what the encoder gives and takes.
  struct Pass {
    DeviceBatch const& batch;   ///< T tokens
    Stored const* hidden;       ///< (T, C) output of the encoder
    Real* gradients = nullptr;  ///< (n), added to; nullptr, like dhidden: computes the losses only
    Real* dhidden = nullptr;    ///< (T, C), overwritten
  };

  /// Adds to the losses. partial: scratch of PendingSums, for 3 C columns of M rows and C + 2 columns of B rows.
  void run(Parameters<Real, Stored> const& parameters, Pass const& pass, LossScale const& scale,
           std::span<Real> partial);
  /// Enqueues a copy of the losses summed since the last call, for stored_losses(). At most two may be unread. Does not
  /// wait.
  void store_losses();
  /// Returns the oldest unread losses. Waits for the runs that belong to them, but not for later ones.
  Losses stored_losses();

 private:
  void masked_forward(Parameters<Real, Stored> const& parameters, DeviceBatch const& batch, Stored const* hidden);
  void masked_losses(Parameters<Real, Stored> const& parameters, Real* gradients, DeviceBatch const& batch, Real scale);
  void masked_backward(Parameters<Real, Stored> const& parameters, Real* gradients, DeviceBatch const& batch,
                       Real* dhidden, PendingSums<Real>& sums);
  void next_sentence(Parameters<Real, Stored> const& parameters, Pass const& pass, Real scale, PendingSums<Real>& sums);
  /// Logits in Real, and their gradient in Stored for matrix products. Both share one buffer if the types are equal.
  struct Logits {
    Real* values;
    Stored* gradients;
  };
  void want(Workspace& workspace, Logits& logits, Index count);
  static Stored* operand(Logits const& logits);

  Exec exec_;
  ModelConfig config_;
  BertLayout const& layout_;
  Index strip_;                                 // rows of logits at a time
  Stored *rows_, *pre_, *activated_, *normed_;  // (M, C)
  Real *mean_, *inverse_deviation_;             // (M)
  Logits logits_{};                             // (strip, V), rows apart by logit_stride(V)
  Real* strip_partial_;                         // (row_blocks(strip), V)
  Stored *first_, *pooled_, *dpooled_;          // (B, C)
  Logits next_logits_{};                        // (B, 2)
  Real *dnormed_, *dfirst_;                     // (M, C), (B, C)
  double *loss_, *correct_;                     // (max(M, B))
  Vec<double> totals_;                          // (4) as in Losses
  DeviceProgress aside_;
  std::int64_t taken_ = 0;  // number of stored losses that were read
  // (places, 4) copies for the host; later runs add to totals_ in the meantime
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace> host_totals_;
};

}  // namespace bellwether::model
