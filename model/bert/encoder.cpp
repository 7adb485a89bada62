// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/encoder.hpp"

#include "core/gemm/gemm.hpp"
#include "model/layers/linear.hpp"
#include "model/layers/rows.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace bellwether::model {
namespace {

/// Returns the largest number of columns with pending sums over rows. In a block: two LayerNorms with bias (3 C each),
/// GELU (F) and attention (2 C). In the embedding: 2 C and C for each segment.
Index partial_columns(ModelConfig const& config) {
  return std::max(8 * config.hidden + config.feed_forward, (2 + config.segments) * config.hidden);
}

}  // namespace

template <class Real, class Stored>
Encoder<Real, Stored>::Encoder(Exec const& exec, ModelConfig const& config, BertLayout const& layout,
                               Capacity const& capacity, std::uint64_t seed, Workspace& workspace)
    : exec_(exec),
      config_(config),
      layout_(layout),
      longest_(capacity.longest),
      key_(random_key(seed, Purpose::dropout)),
      blocks_(static_cast<std::size_t>(config.layers)) {
  Index const T = capacity.sequences * capacity.longest, C = config.hidden, F = config.feed_forward;
  want(workspace, embedding_, T);
  for (auto& block : blocks_) {
    workspace.want(block.qkv, T * 3 * C);
    workspace.want(block.context, T * C);
    workspace.want(block.logarithms, attention_keeps<Real, Stored>(exec, T, C, config.heads));
    want(workspace, block.attention, T);
    workspace.want(block.pre, T * F);
    workspace.want(block.activated, T * F);
    want(workspace, block.output, T);
  }
  workspace.want(branch_, T * C);
  workspace.want(wide_, T * std::max(4 * C, F));
  partial_size_ = PendingSums<Real>::room(row_blocks(T), partial_columns(config));
  workspace.want(partial_, partial_size_);
  workspace.want(scratch_, attention_scratch<Real, Stored>(exec, capacity.sequences, C, config.heads, longest_));
}

template <class Real, class Stored>
void Encoder<Real, Stored>::want(Workspace& workspace, Norm& norm, Index T) {
  workspace.want(norm.sum, T * config_.hidden);
  workspace.want(norm.y, T * config_.hidden);
  workspace.want(norm.mean, T);
  workspace.want(norm.inverse_deviation, T);
}

template <class Real, class Stored>
Dropout Encoder<Real, Stored>::dropout(bool training, Index site) const {
  return {key_, static_cast<std::uint32_t>(site), training ? config_.hidden_dropout : 0.0};
}

template <class Real, class Stored>
LayerNormForward<Real, Stored> Encoder<Real, Stored>::norm_forward(Real const* values, DeviceBatch const& batch,
                                                                   Norm const& norm, Affine const& affine) const {
  return {.rows = batch.tokens,
          .C = config_.hidden,
          .sum = norm.sum,
          .origin = batch.origin(),
          .gamma = values + affine.weight,
          .beta = values + affine.bias,
          .epsilon = static_cast<Real>(config_.layer_norm_epsilon),
          .y = norm.y,
          .mean = norm.mean,
          .inverse_deviation = norm.inverse_deviation};
}

template <class Real, class Stored>
LayerNormBackward<Real, Stored> Encoder<Real, Stored>::norm_backward(Real const* values, Real* gradients,
                                                                     DeviceBatch const& batch, Norm const& norm,
                                                                     Affine const& affine, Real* dy) const {
  return {.rows = batch.tokens,
          .C = config_.hidden,
          .dy = dy,
          .sum = norm.sum,
          .mean = norm.mean,
          .inverse_deviation = norm.inverse_deviation,
          .gamma = values + affine.weight,
          .origin = batch.origin(),
          .dsum = dy,
          .dgamma = gradients + affine.weight,
          .dbeta = gradients + affine.bias};
}

template <class Real, class Stored>
Attention<Real, Stored> Encoder<Real, Stored>::attention(DeviceBatch const& batch, Block const& block, Index i,
                                                         bool training) const {
  Index const stride = (config_.positions + dropout_chunk - 1) / dropout_chunk * dropout_chunk;
  return {.sequences = batch.sequences,
          .C = config_.hidden,
          .heads = config_.heads,
          .longest = longest_,
          .sequence_offsets = batch.offsets,
          .qkv = block.qkv,
          .dropout = {key_, static_cast<std::uint32_t>(3 * i + 1), training ? config_.attention_dropout : 0.0},
          .samples = batch.samples,
          .position_stride = stride,
          .scratch = scratch_,
          .context = block.context,
          .logarithms = block.logarithms};
}

template <class Real, class Stored>
void Encoder<Real, Stored>::forward(Parameters<Real, Stored> const& parameters, DeviceBatch const& batch,
                                    bool training) {
  Kokkos::Profiling::ScopedRegion const region("bellwether::model::encoder_forward");
  embedding_forward(exec_, EmbeddingForward<Real, Stored>{.T = batch.tokens,
                                                          .C = config_.hidden,
                                                          .ids = batch.ids,
                                                          .positions = batch.positions,
                                                          .segments = batch.segments,
                                                          .word = parameters.values + layout_.word,
                                                          .position = parameters.values + layout_.position,
                                                          .segment = parameters.values + layout_.segment,
                                                          .sum = embedding_.sum});
  auto norm = norm_forward(parameters.values, batch, embedding_, layout_.embedding_norm);
  norm.out_dropout = dropout(training, 0);
  layer_norm_forward(exec_, norm);
  for (Index i = 0; i < static_cast<Index>(blocks_.size()); ++i) block_forward(parameters, batch, i, training);
}

template <class Real, class Stored>
void Encoder<Real, Stored>::block_forward(Parameters<Real, Stored> const& parameters, DeviceBatch const& batch, Index i,
                                          bool training) {
  Index const T = batch.tokens, C = config_.hidden, F = config_.feed_forward;
  auto const& at = layout_.blocks[i];
  auto& block = blocks_[i];
  Stored const* const x = hidden(i);

  linear_forward(exec_, LinearForward<Real, Stored>{.rows = T,
                                                    .in = C,
                                                    .out = 3 * C,
                                                    .x = x,
                                                    .W = parameters.matrices + at.qkv_weight,
                                                    .bias = parameters.bias(at.qkv_bias),
                                                    .y = block.qkv});
  attention_forward(exec_, attention(batch, block, i, training), block.context);

  gemm(exec_, {Op::none, Op::transpose, T, C, C}, ConstMatrix{block.context, C},
       ConstMatrix{parameters.matrices + at.attention_output.weight, C}, Matrix{block.attention.sum, C});
  auto norm = norm_forward(parameters.values, batch, block.attention, at.attention_norm);
  norm.bias = parameters.values + at.attention_output.bias;
  norm.residual = x;
  norm.in_dropout = dropout(training, 3 * i + 2);
  layer_norm_forward(exec_, norm);

  linear_gelu_forward(exec_, config_.activation,
                      LinearGeluForward<Real, Stored>{.rows = T,
                                                      .in = C,
                                                      .out = F,
                                                      .x = block.attention.y,
                                                      .W = parameters.matrices + at.intermediate.weight,
                                                      .bias = parameters.bias(at.intermediate.bias),
                                                      .pre = block.pre,
                                                      .y = block.activated});
  gemm(exec_, {Op::none, Op::transpose, T, C, F}, ConstMatrix{block.activated, F},
       ConstMatrix{parameters.matrices + at.output.weight, F}, Matrix{block.output.sum, C});
  norm = norm_forward(parameters.values, batch, block.output, at.output_norm);
  norm.bias = parameters.values + at.output.bias;
  norm.residual = block.attention.y;
  norm.in_dropout = dropout(training, 3 * i + 3);
  layer_norm_forward(exec_, norm);
}

template <class Real, class Stored>
void Encoder<Real, Stored>::backward(Parameters<Real, Stored> const& parameters, Real* gradients,
                                     DeviceBatch const& batch, Real* dy, GradientReady const& ready) {
  Kokkos::Profiling::ScopedRegion const region("bellwether::model::encoder_backward");
  for (Index i = static_cast<Index>(blocks_.size()) - 1; i >= 0; --i) {
    block_backward(parameters, gradients, batch, i, dy, ready);
    ready(layout_.blocks[i].first, layout_.blocks[i].last);
  }
  embedding_gradients(parameters.values, gradients, batch, dy);
  ready(0, layout_.blocks.front().first);
}

/// dy: on entry the gradient of the block's output, on return that of its input.
template <class Real, class Stored>
void Encoder<Real, Stored>::block_backward(Parameters<Real, Stored> const& parameters, Real* gradients,
                                           DeviceBatch const& batch, Index i, Real* dy, GradientReady const& ready) {
  Index const T = batch.tokens, C = config_.hidden, F = config_.feed_forward;
  auto const& at = layout_.blocks[i];
  auto& block = blocks_[i];
  // The transport makes progress only when the host calls it.
  auto const look = [&] { ready(at.last, at.last); };
  PendingSums<Real> sums(partial());

  auto norm = norm_backward(parameters.values, gradients, batch, block.output, at.output_norm, dy);
  norm.in_dropout = dropout(true, 3 * i + 3);
  norm.da = branch_;
  norm.dbias = gradients + at.output.bias;
  layer_norm_backward(exec_, norm, sums);
  gemm(exec_, {Op::transpose, Op::none, C, F, T}, ConstMatrix{branch_, C}, ConstMatrix{block.activated, F},
       Matrix{gradients + at.output.weight, F}, {.beta = 1});
  look();
  gelu_linear_backward(exec_, config_.activation,
                       GeluLinearBackward<Real, Stored>{.rows = T,
                                                        .in = F,
                                                        .out = C,
                                                        .dz = branch_,
                                                        .V = parameters.matrices + at.output.weight,
                                                        .pre = block.pre,
                                                        .dpre = wide_,
                                                        .dbias = gradients + at.intermediate.bias},
                       sums);
  look();
  gemm(exec_, {Op::transpose, Op::none, F, C, T}, ConstMatrix{wide_, F}, ConstMatrix{block.attention.y, C},
       Matrix{gradients + at.intermediate.weight, C}, {.beta = 1});
  look();
  gemm(exec_, {Op::none, Op::none, T, C, F}, ConstMatrix{wide_, F},
       ConstMatrix{parameters.matrices + at.intermediate.weight, C}, Matrix{dy, C}, {.beta = 1});
  look();

  norm = norm_backward(parameters.values, gradients, batch, block.attention, at.attention_norm, dy);
  norm.in_dropout = dropout(true, 3 * i + 2);
  norm.da = branch_;
  norm.dbias = gradients + at.attention_output.bias;
  layer_norm_backward(exec_, norm, sums);
  gemm(exec_, {Op::transpose, Op::none, C, C, T}, ConstMatrix{branch_, C}, ConstMatrix{block.context, C},
       Matrix{gradients + at.attention_output.weight, C}, {.beta = 1});
  look();
  Stored *const dcontext = wide_, *const dqkv = wide_ + T * C;
  gemm(exec_, {Op::none, Op::none, T, C, C}, ConstMatrix{branch_, C},
       ConstMatrix{parameters.matrices + at.attention_output.weight, C}, Matrix{dcontext, C});
  look();
  attention_backward(exec_, attention(batch, block, i, true), dcontext, dqkv);
  look();
  gemm(exec_, {Op::transpose, Op::none, 3 * C, C, T}, ConstMatrix{dqkv, 3 * C}, ConstMatrix{hidden(i), C},
       Matrix{gradients + at.qkv_weight, C}, {.beta = 1});
  look();
  gemm(exec_, {Op::none, Op::none, T, C, 3 * C}, ConstMatrix{dqkv, 3 * C},
       ConstMatrix{parameters.matrices + at.qkv_weight, C}, Matrix{dy, C}, {.beta = 1});
  // Skip the key bias: softmax makes its exact gradient zero, so a computed one would be rounding noise.
  Real* const dqkv_bias = gradients + at.qkv_bias;
  add_column_sums<Real>(exec_, StoredRows<Stored>{.rows = T, .stride = 3 * C, .at = dqkv}, 2 * C, sums,
                        {C, {dqkv_bias, dqkv_bias + 2 * C}});
  sums.add(exec_);
}

template <class Real, class Stored>
void Encoder<Real, Stored>::embedding_gradients(Real const* values, Real* gradients, DeviceBatch const& batch,
                                                Real* dy) {
  auto norm = norm_backward(values, gradients, batch, embedding_, layout_.embedding_norm, dy);
  norm.out_dropout = dropout(true, 0);
  PendingSums<Real> sums(partial());
  layer_norm_backward(exec_, norm, sums);
  embedding_backward(exec_,
                     EmbeddingBackward<Real>{.T = batch.tokens,
                                             .C = config_.hidden,
                                             .tokens = batch.token_index,
                                             .sequences = batch.sequences,
                                             .longest = batch.longest,
                                             .sequence_offsets = batch.offsets,
                                             .segments = batch.segments,
                                             .segment_rows = config_.segments,
                                             .dsum = dy,
                                             .dword = gradients + layout_.word,
                                             .dposition = gradients + layout_.position,
                                             .dsegment = gradients + layout_.segment},
                     sums);
  sums.add(exec_);
}

template class Encoder<float, float>;
template class Encoder<float, bf16>;
template class Encoder<double, double>;

}  // namespace bellwether::model
