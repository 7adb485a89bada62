// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/pretraining_heads.hpp"

#include "core/gemm.hpp"
#include "model/layers/activation.hpp"
#include "model/layers/cross_entropy.hpp"
#include "model/layers/layer_norm.hpp"
#include "model/layers/rows.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace bellwether::model {
namespace {

/// Rows of logits that are formed at once: enough to keep GEMM busy, few enough to stay small beside the activations.
constexpr Index logit_rows = 256;

template <class Real>
void clear(Exec const& exec, Real* values, Index count) {
  Kokkos::deep_copy(exec, Kokkos::View<Real*, Mem, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values, count), Real(0));
}

}  // namespace

template <class Real>
PretrainingHeads<Real>::PretrainingHeads(Exec const& exec, ModelConfig const& config, BertLayout const& layout,
                                         Capacity const& capacity, Workspace& workspace)
    : exec_(exec),
      config_(config),
      layout_(layout),
      totals_("bellwether::model::losses"),
      host_totals_(Kokkos::create_mirror_view(totals_)) {
  Index const B = capacity.sequences, M = B * capacity.masked, C = config.hidden, V = config.vocabulary;
  strip_ = std::max<Index>(1, std::min(M, logit_rows));
  for (auto** rows : {&rows_, &pre_, &activated_, &normed_, &dnormed_}) workspace.want(*rows, M * C);
  workspace.want(mean_, M);
  workspace.want(inverse_deviation_, M);
  workspace.want(logits_, strip_ * V);
  workspace.want(strip_partial_, row_blocks(strip_) * V);
  for (auto** rows : {&first_, &pooled_, &dpooled_}) workspace.want(*rows, B * C);
  workspace.want(next_logits_, B * 2);
  workspace.want(loss_, std::max(M, B));
  workspace.want(correct_, std::max(M, B));
}

template <class Real>
void PretrainingHeads<Real>::run(Real const* parameters, Real* gradients, DeviceBatch const& batch,
                                 LossScale const& scale, Real const* hidden, Real* dhidden, Real* partial) {
  Kokkos::Profiling::ScopedRegion const region("bellwether::model::heads");
  if (dhidden != nullptr) clear(exec_, dhidden, batch.tokens * config_.hidden);
  masked_forward(parameters, batch, hidden);
  masked_losses(parameters, gradients, batch, static_cast<Real>(scale.mlm));
  if (gradients != nullptr) masked_backward(parameters, gradients, batch, dhidden, partial);
  next_sentence(parameters, gradients, batch, static_cast<Real>(scale.nsp), hidden, dhidden, partial);
}

template <class Real>
Losses PretrainingHeads<Real>::take_losses() {
  Kokkos::deep_copy(exec_, host_totals_, totals_);
  exec_.fence("bellwether::model::losses on the host");
  Losses const losses{host_totals_(0), host_totals_(1), host_totals_(2), host_totals_(3)};
  Kokkos::deep_copy(exec_, totals_, 0.0);
  return losses;
}

template <class Real>
void PretrainingHeads<Real>::masked_forward(Real const* parameters, DeviceBatch const& batch, Real const* hidden) {
  Index const M = batch.masked, C = config_.hidden;
  gather_rows<Real>(exec_, M, C, batch.masked_rows, hidden, rows_);
  gemm<Real>(exec_, Op::none, Op::transpose, M, C, C, 1, rows_, C, parameters + layout_.transform.weight, C, 0, pre_, C,
             config_.compute);
  bias_gelu_forward<Real>(exec_, config_.activation, M, C, parameters + layout_.transform.bias, pre_, activated_);
  layer_norm_forward(exec_, LayerNormForward<Real>{.rows = M,
                                                   .C = C,
                                                   .sum = activated_,
                                                   .gamma = parameters + layout_.transform_norm.weight,
                                                   .beta = parameters + layout_.transform_norm.bias,
                                                   .epsilon = static_cast<Real>(config_.layer_norm_epsilon),
                                                   .y = normed_,
                                                   .mean = mean_,
                                                   .inverse_deviation = inverse_deviation_});
}

template <class Real>
void PretrainingHeads<Real>::masked_losses(Real const* parameters, Real* gradients, DeviceBatch const& batch,
                                           Real scale) {
  Index const C = config_.hidden, V = config_.vocabulary;
  Real const* const word = parameters + layout_.word;
  for (Index first = 0; first < batch.masked; first += strip_) {
    Index const rows = std::min(strip_, batch.masked - first);
    Real const* const x = normed_ + first * C;
    gemm<Real>(exec_, Op::none, Op::transpose, rows, V, C, 1, x, C, word, C, 0, logits_, V, config_.compute);
    cross_entropy<Real>(exec_, rows, V, parameters + layout_.decoder_bias, batch.masked_labels + first, scale, logits_,
                        loss_ + first, correct_ + first);
    if (gradients == nullptr) continue;
    gemm<Real>(exec_, Op::none, Op::none, rows, C, V, 1, logits_, V, word, C, 0, dnormed_ + first * C, C,
               config_.compute);
    gemm<Real>(exec_, Op::transpose, Op::none, V, C, rows, 1, logits_, V, x, C, 1, gradients + layout_.word, C,
               config_.compute);
    add_column_sums<Real>(exec_, rows, V, V, logits_, strip_partial_, gradients + layout_.decoder_bias);
  }
  add_in_order(exec_, batch.masked, loss_, totals_.data());
  add_in_order(exec_, batch.masked, correct_, totals_.data() + 1);
}

template <class Real>
void PretrainingHeads<Real>::masked_backward(Real const* parameters, Real* gradients, DeviceBatch const& batch,
                                             Real* dhidden, Real* partial) {
  Index const M = batch.masked, C = config_.hidden;
  layer_norm_backward(exec_, LayerNormBackward<Real>{.rows = M,
                                                     .C = C,
                                                     .dy = dnormed_,
                                                     .sum = activated_,
                                                     .mean = mean_,
                                                     .inverse_deviation = inverse_deviation_,
                                                     .gamma = parameters + layout_.transform_norm.weight,
                                                     .dsum = dnormed_,
                                                     .dgamma = gradients + layout_.transform_norm.weight,
                                                     .dbeta = gradients + layout_.transform_norm.bias,
                                                     .partial = partial});
  bias_gelu_backward<Real>(exec_, config_.activation, M, C, pre_, dnormed_, partial,
                           gradients + layout_.transform.bias);
  gemm<Real>(exec_, Op::transpose, Op::none, C, C, M, 1, dnormed_, C, rows_, C, 1, gradients + layout_.transform.weight,
             C, config_.compute);
  gemm<Real>(exec_, Op::none, Op::none, M, C, C, 1, dnormed_, C, parameters + layout_.transform.weight, C, 0, rows_, C,
             config_.compute);
  add_rows<Real>(exec_, M, C, batch.masked_rows, rows_, dhidden);
}

template <class Real>
void PretrainingHeads<Real>::next_sentence(Real const* parameters, Real* gradients, DeviceBatch const& batch,
                                           Real scale, Real const* hidden, Real* dhidden, Real* partial) {
  Index const B = batch.sequences, C = config_.hidden;
  gather_rows<Real>(exec_, B, C, batch.first_rows, hidden, first_);
  gemm<Real>(exec_, Op::none, Op::transpose, B, C, C, 1, first_, C, parameters + layout_.pooler.weight, C, 0, pooled_,
             C, config_.compute);
  bias_tanh_forward<Real>(exec_, B, C, parameters + layout_.pooler.bias, pooled_);
  gemm<Real>(exec_, Op::none, Op::transpose, B, 2, C, 1, pooled_, C, parameters + layout_.next_weight, C, 0,
             next_logits_, 2, config_.compute);
  cross_entropy<Real>(exec_, B, 2, parameters + layout_.next_bias, batch.next_labels, scale, next_logits_, loss_,
                      correct_);
  add_in_order(exec_, B, loss_, totals_.data() + 2);
  add_in_order(exec_, B, correct_, totals_.data() + 3);
  if (gradients == nullptr) return;
  add_column_sums<Real>(exec_, B, 2, 2, next_logits_, partial, gradients + layout_.next_bias);
  gemm<Real>(exec_, Op::transpose, Op::none, 2, C, B, 1, next_logits_, 2, pooled_, C, 1,
             gradients + layout_.next_weight, C, config_.compute);
  gemm<Real>(exec_, Op::none, Op::none, B, C, 2, 1, next_logits_, 2, parameters + layout_.next_weight, C, 0, dpooled_,
             C, config_.compute);
  tanh_backward<Real>(exec_, B, C, pooled_, dpooled_);
  add_column_sums<Real>(exec_, B, C, C, dpooled_, partial, gradients + layout_.pooler.bias);
  gemm<Real>(exec_, Op::transpose, Op::none, C, C, B, 1, dpooled_, C, first_, C, 1, gradients + layout_.pooler.weight,
             C, config_.compute);
  gemm<Real>(exec_, Op::none, Op::none, B, C, C, 1, dpooled_, C, parameters + layout_.pooler.weight, C, 0, first_, C,
             config_.compute);
  add_rows<Real>(exec_, B, C, batch.first_rows, first_, dhidden);
}

template class PretrainingHeads<float>;
template class PretrainingHeads<double>;

}  // namespace bellwether::model
