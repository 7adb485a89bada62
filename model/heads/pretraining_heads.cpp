// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/heads/pretraining_heads.hpp"

#include "core/gemm/gemm.hpp"
#include "core/system/error.hpp"
#include "model/layers/activation.hpp"
#include "model/layers/cross_entropy.hpp"
#include "model/layers/layer_norm.hpp"
#include "model/layers/linear.hpp"
#include "model/layers/rows.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <type_traits>

namespace bellwether::model {
namespace {

/// Rows of logits computed at a time: enough to keep GEMM busy, few enough to need less memory than the activations.
constexpr Index logit_rows = on_devices ? 2048 : 256;
/// Returns the elements between rows of logits. Every row is aligned, for any V, because fast products need it.
Index logit_stride(Index V) { return (V + 31) / 32 * 32; }
/// Number of buffers for losses that were stored and not read yet.
constexpr std::int64_t places = 2;

template <class T>
void clear(Exec const& exec, T* values, Index count) {
  Kokkos::deep_copy(exec, Kokkos::View<T*, Mem, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values, count), T(0));
}

}  // namespace

template <class Real, class Stored>
PretrainingHeads<Real, Stored>::PretrainingHeads(Exec const& exec, ModelConfig const& config, BertLayout const& layout,
                                                 Capacity const& capacity, Workspace& workspace)
    : exec_(exec),
      config_(config),
      layout_(layout),
      totals_("bellwether::model::losses", 4),
      host_totals_("bellwether::model::host_losses", places, 4) {
  Index const B = capacity.sequences, M = B * capacity.masked, C = config.hidden, V = config.vocabulary;
  strip_ = std::max<Index>(1, std::min(M, logit_rows));
  for (auto** rows : {&rows_, &pre_, &activated_, &normed_}) workspace.want(*rows, M * C);
  workspace.want(dnormed_, M * C);
  workspace.want(mean_, M);
  workspace.want(inverse_deviation_, M);
  want(workspace, logits_, strip_ * logit_stride(V));
  workspace.want(strip_partial_, row_blocks(strip_) * V);
  for (auto** rows : {&first_, &pooled_, &dpooled_}) workspace.want(*rows, B * C);
  workspace.want(dfirst_, B * C);
  want(workspace, next_logits_, B * 2);
  workspace.want(loss_, std::max(M, B));
  workspace.want(correct_, std::max(M, B));
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::want(Workspace& workspace, Logits& logits, Index count) {
  workspace.want(logits.values, count);
  if constexpr (!std::is_same_v<Real, Stored>) workspace.want(logits.gradients, count);
}

template <class Real, class Stored>
Stored* PretrainingHeads<Real, Stored>::operand(Logits const& logits) {
  if constexpr (std::is_same_v<Real, Stored>)
    return logits.values;
  else
    return logits.gradients;
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::run(Parameters<Real, Stored> const& parameters, Pass const& pass,
                                         LossScale const& scale, std::span<Real> partial) {
  auto const& [batch, hidden, gradients, dhidden] = pass;
  Kokkos::Profiling::ScopedRegion const region("bellwether::model::heads");
  if (dhidden != nullptr) clear(exec_, dhidden, batch.tokens * config_.hidden);
  masked_forward(parameters, batch, hidden);
  masked_losses(parameters, gradients, batch, static_cast<Real>(scale.mlm));
  PendingSums<Real> sums(partial);
  if (gradients != nullptr) masked_backward(parameters, gradients, batch, dhidden, sums);
  next_sentence(parameters, pass, static_cast<Real>(scale.nsp), sums);
  sums.add(exec_);
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::store_losses() {
  require(aside_.marked() - taken_ < places, "losses must be read before more are stored");
  Kokkos::deep_copy(exec_, Kokkos::subview(host_totals_, aside_.marked() % places, Kokkos::ALL), totals_);
  Kokkos::deep_copy(exec_, totals_, 0.0);
  aside_.mark(exec_);
}

template <class Real, class Stored>
Losses PretrainingHeads<Real, Stored>::stored_losses() {
  require(taken_ < aside_.marked(), "losses must be stored before they are read");
  auto const place = taken_ % places;
  aside_.wait(exec_, ++taken_);
  return {host_totals_(place, 0), host_totals_(place, 1), host_totals_(place, 2), host_totals_(place, 3)};
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::masked_forward(Parameters<Real, Stored> const& parameters,
                                                    DeviceBatch const& batch, Stored const* hidden) {
  Index const M = batch.masked, C = config_.hidden;
  gather_rows(exec_, M, C, batch.masked_rows, hidden, rows_);
  linear_gelu_forward(exec_, config_.activation,
                      LinearGeluForward<Real, Stored>{.rows = M,
                                                      .in = C,
                                                      .out = C,
                                                      .x = rows_,
                                                      .W = parameters.matrices + layout_.transform.weight,
                                                      .bias = parameters.bias(layout_.transform.bias),
                                                      .pre = pre_,
                                                      .y = activated_});
  layer_norm_forward(exec_, LayerNormForward<Real, Stored>{.rows = M,
                                                           .C = C,
                                                           .sum = activated_,
                                                           .gamma = parameters.values + layout_.transform_norm.weight,
                                                           .beta = parameters.values + layout_.transform_norm.bias,
                                                           .epsilon = static_cast<Real>(config_.layer_norm_epsilon),
                                                           .y = normed_,
                                                           .mean = mean_,
                                                           .inverse_deviation = inverse_deviation_});
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::masked_losses(Parameters<Real, Stored> const& parameters, Real* gradients,
                                                   DeviceBatch const& batch, Real scale) {
  Index const C = config_.hidden, V = config_.vocabulary, stride = logit_stride(V);
  Stored const* const word = parameters.matrices + layout_.word;
  Stored* const dlogits = operand(logits_);
  for (Index first = 0; first < batch.masked; first += strip_) {
    Index const rows = std::min(strip_, batch.masked - first);
    Stored const* const x = normed_ + first * C;
    gemm(exec_, {Op::none, Op::transpose, rows, V, C}, ConstMatrix{x, C}, ConstMatrix{word, C},
         Matrix{logits_.values, stride});
    cross_entropy(exec_, CrossEntropy<Real, Stored>{.rows = rows,
                                                    .classes = V,
                                                    .stride = stride,
                                                    .bias = parameters.values + layout_.decoder_bias,
                                                    .labels = batch.masked_labels + first,
                                                    .scale = scale,
                                                    .logits = logits_.values,
                                                    .dlogits = dlogits,
                                                    .loss = loss_ + first,
                                                    .correct = correct_ + first});
    if (gradients == nullptr) continue;
    gemm(exec_, {Op::none, Op::none, rows, C, V}, ConstMatrix{dlogits, stride}, ConstMatrix{word, C},
         Matrix{dnormed_ + first * C, C});
    linear_gradients(exec_,
                     LinearGradients<Real, Stored>{.rows = rows,
                                                   .in = C,
                                                   .out = V,
                                                   .stride = stride,
                                                   .dy = dlogits,
                                                   .x = x,
                                                   .dW = gradients + layout_.word,
                                                   .dbias = gradients + layout_.decoder_bias},
                     strip_partial_);
  }
  add_in_order(exec_, batch.masked, loss_, totals_.data());
  add_in_order(exec_, batch.masked, correct_, totals_.data() + 1);
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::masked_backward(Parameters<Real, Stored> const& parameters, Real* gradients,
                                                     DeviceBatch const& batch, Real* dhidden, PendingSums<Real>& sums) {
  Index const M = batch.masked, C = config_.hidden;
  layer_norm_backward(exec_,
                      LayerNormBackward<Real, Stored>{.rows = M,
                                                      .C = C,
                                                      .dy = dnormed_,
                                                      .sum = activated_,
                                                      .mean = mean_,
                                                      .inverse_deviation = inverse_deviation_,
                                                      .gamma = parameters.values + layout_.transform_norm.weight,
                                                      .dsum = dnormed_,
                                                      .dgamma = gradients + layout_.transform_norm.weight,
                                                      .dbeta = gradients + layout_.transform_norm.bias},
                      sums);
  // Reuse activated_ and dnormed_: their contents are not needed after bias_gelu_backward().
  Stored* const dpre = activated_;
  bias_gelu_backward(
      exec_, config_.activation,
      BiasGeluBackward<Real, Stored, Real>{
          .rows = M, .F = C, .pre = pre_, .dy = dnormed_, .dpre = dpre, .dbias = gradients + layout_.transform.bias},
      sums);
  gemm(exec_, {Op::transpose, Op::none, C, C, M}, ConstMatrix{dpre, C}, ConstMatrix{rows_, C},
       Matrix{gradients + layout_.transform.weight, C}, {.beta = 1});
  gemm(exec_, {Op::none, Op::none, M, C, C}, ConstMatrix{dpre, C},
       ConstMatrix{parameters.matrices + layout_.transform.weight, C}, Matrix{dnormed_, C});
  add_rows(exec_, M, C, batch.masked_rows, dnormed_, dhidden);
}

template <class Real, class Stored>
void PretrainingHeads<Real, Stored>::next_sentence(Parameters<Real, Stored> const& parameters, Pass const& pass,
                                                   Real scale, PendingSums<Real>& sums) {
  auto const& [batch, hidden, gradients, dhidden] = pass;
  Index const B = batch.sequences, C = config_.hidden;
  gather_rows(exec_, B, C, batch.first_rows(), hidden, first_);
  gemm(exec_, {Op::none, Op::transpose, B, C, C}, ConstMatrix{first_, C},
       ConstMatrix{parameters.matrices + layout_.pooler.weight, C}, Matrix{pooled_, C});
  bias_tanh_forward(exec_, B, C, parameters.values + layout_.pooler.bias, pooled_);
  gemm(exec_, {Op::none, Op::transpose, B, 2, C}, ConstMatrix{pooled_, C},
       ConstMatrix{parameters.matrices + layout_.next_weight, C}, Matrix{next_logits_.values, 2});
  Stored* const dlogits = operand(next_logits_);
  cross_entropy(exec_, CrossEntropy<Real, Stored>{.rows = B,
                                                  .classes = 2,
                                                  .stride = 2,
                                                  .bias = parameters.values + layout_.next_bias,
                                                  .labels = batch.next_labels,
                                                  .scale = scale,
                                                  .logits = next_logits_.values,
                                                  .dlogits = dlogits,
                                                  .loss = loss_,
                                                  .correct = correct_});
  add_in_order(exec_, B, loss_, totals_.data() + 2);
  add_in_order(exec_, B, correct_, totals_.data() + 3);
  if (gradients == nullptr) return;
  linear_gradients(exec_,
                   LinearGradients<Real, Stored>{.rows = B,
                                                 .in = C,
                                                 .out = 2,
                                                 .stride = 2,
                                                 .dy = dlogits,
                                                 .x = pooled_,
                                                 .dW = gradients + layout_.next_weight,
                                                 .dbias = gradients + layout_.next_bias},
                   sums);
  gemm(exec_, {Op::none, Op::none, B, C, 2}, ConstMatrix{dlogits, 2},
       ConstMatrix{parameters.matrices + layout_.next_weight, C}, Matrix{dpooled_, C});
  tanh_backward(exec_, B, C, pooled_, dpooled_);
  linear_gradients(exec_,
                   LinearGradients<Real, Stored>{.rows = B,
                                                 .in = C,
                                                 .out = C,
                                                 .stride = C,
                                                 .dy = dpooled_,
                                                 .x = first_,
                                                 .dW = gradients + layout_.pooler.weight,
                                                 .dbias = gradients + layout_.pooler.bias},
                   sums);
  gemm(exec_, {Op::none, Op::none, B, C, C}, ConstMatrix{dpooled_, C},
       ConstMatrix{parameters.matrices + layout_.pooler.weight, C}, Matrix{dfirst_, C});
  add_rows(exec_, B, C, batch.first_rows(), dfirst_, dhidden);
}

template class PretrainingHeads<float, float>;
template class PretrainingHeads<float, bf16>;
template class PretrainingHeads<double, double>;

}  // namespace bellwether::model
