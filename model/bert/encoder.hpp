// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/batch/device_batch.hpp"
#include "model/bert/gradient_ready.hpp"
#include "model/layers/attention.hpp"
#include "model/layers/layer_norm.hpp"
#include "model/layout/bert_layout.hpp"
#include "model/layout/parameters.hpp"

#include <span>

namespace bellwether::model {

/// Embeddings and transformer blocks, forward and backward, in a preallocated workspace. Computes in Real. Activations
/// and the gradients that enter matrix products are Stored; the gradient along the residual connections is Real.
template <class Real, class Stored>
class Encoder {
 public:
  Encoder(Exec const& exec, ModelConfig const& config, BertLayout const& layout, Capacity const& capacity,
          std::uint64_t seed, Workspace& workspace);

  /// Computes hidden(0..L). training: apply dropout.
  void forward(Parameters<Real, Stored> const& parameters, DeviceBatch const& batch, bool training);
  /// Adds the gradients of the parameters to `gradients` (n). dy: (T, C), the gradient of hidden(L); overwritten. Calls
  /// `ready` after each block and at the end, and in between with empty ranges.
  void backward(Parameters<Real, Stored> const& parameters, Real* gradients, DeviceBatch const& batch, Real* dy,
                GradientReady const& ready);

  Stored* hidden(Index i) const { return i == 0 ? embedding_.y : blocks_[i - 1].output.y; }  ///< (T, C)
  /// Scratch memory for PendingSums; the heads may use it between forward and backward.
  std::span<Real> partial() const { return {partial_, static_cast<std::size_t>(partial_size_)}; }

 private:
  struct Norm {
    Stored *sum, *y;                 // (T, C)
    Real *mean, *inverse_deviation;  // (T)
  };
  struct Block {
    Stored *qkv, *context;  // (T, 3C), (T, C)
    Real* logarithms;       // size from attention_keeps()
    Norm attention, output;
    Stored *pre, *activated;  // (T, F)
  };

  void want(Workspace& workspace, Norm& norm, Index T);
  Dropout dropout(bool training, Index site) const;
  LayerNormForward<Real, Stored> norm_forward(Real const* values, DeviceBatch const& batch, Norm const& norm,
                                              Affine const& affine) const;
  LayerNormBackward<Real, Stored> norm_backward(Real const* values, Real* gradients, DeviceBatch const& batch,
                                                Norm const& norm, Affine const& affine, Real* dy) const;
  Attention<Real, Stored> attention(DeviceBatch const& batch, Block const& block, Index i, bool training) const;
  void block_forward(Parameters<Real, Stored> const& parameters, DeviceBatch const& batch, Index i, bool training);
  void block_backward(Parameters<Real, Stored> const& parameters, Real* gradients, DeviceBatch const& batch, Index i,
                      Real* dy, GradientReady const& ready);
  void embedding_gradients(Real const* values, Real* gradients, DeviceBatch const& batch, Real* dy);

  Exec exec_;
  ModelConfig config_;
  BertLayout const& layout_;
  Index longest_;
  RandomKey key_;
  Norm embedding_{};
  std::vector<Block> blocks_;
  Stored* branch_ = nullptr;  // (T, C) gradient of a sub-layer's output
  Stored* wide_ = nullptr;    // (T, max(4 C, F)) gradients inside a sub-layer
  Real* partial_ = nullptr;   // (partial_size_) partial sums over blocks of rows
  Index partial_size_ = 0;
  Real* scratch_ = nullptr;  // (slots, 3, S, S)
};

}  // namespace bellwether::model
