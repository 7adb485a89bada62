// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert.hpp"

#include "model/encoder.hpp"
#include "model/pretraining_heads.hpp"

namespace bellwether::model {

template <class Real>
struct Bert<Real>::Impl {
  Impl(Exec const& space, ModelConfig const& config, Capacity const& capacity, std::uint64_t seed,
       ApproveMemory const& approve)
      : exec(space),
        layers(config.layers),
        layout(bert_layout(config, capacity.longest)),
        batch(capacity, workspace),
        encoder(exec, config, layout, capacity, seed, workspace),
        heads(exec, config, layout, capacity, workspace) {
    workspace.want(dhidden, capacity.sequences * capacity.longest * config.hidden);
    if (approve) approve(layout.table.count(), workspace.bytes());
    workspace.allocate("bellwether::model::workspace");
  }

  Exec exec;
  Index layers;
  BertLayout layout;
  Workspace workspace;
  DeviceBatch batch;
  Encoder<Real> encoder;
  PretrainingHeads<Real> heads;
  Real* dhidden = nullptr;  // (T, C)
};

template <class Real>
Bert<Real>::Bert(Exec const& exec, ModelConfig const& config, Capacity const& capacity, std::uint64_t seed,
                 ApproveMemory const& approve)
    : impl_(std::make_unique<Impl>(exec, config, capacity, seed, approve)) {}
template <class Real>
Bert<Real>::~Bert() = default;
template <class Real>
Bert<Real>::Bert(Bert&&) noexcept = default;

template <class Real>
BertLayout const& Bert<Real>::layout() const {
  return impl_->layout;
}

template <class Real>
std::int64_t Bert<Real>::workspace_bytes() const {
  return impl_->workspace.bytes();
}

template <class Real>
void Bert<Real>::train(Real const* parameters, Real* gradients, Batch const& batch, LossScale const& scale,
                       GradientReady const& ready) {
  auto& m = *impl_;
  m.batch.load(m.exec, batch);
  m.encoder.forward(parameters, m.batch, true);
  m.heads.run(parameters, gradients, m.batch, scale, m.encoder.hidden(m.layers), m.dhidden, m.encoder.partial());
  ready(m.layout.heads_first, m.layout.table.count());
  m.encoder.backward(parameters, gradients, m.batch, m.dhidden, ready);
}

template <class Real>
void Bert<Real>::evaluate(Real const* parameters, Batch const& batch) {
  auto& m = *impl_;
  m.batch.load(m.exec, batch);
  m.encoder.forward(parameters, m.batch, false);
  m.heads.run(parameters, nullptr, m.batch, {}, m.encoder.hidden(m.layers), nullptr, m.encoder.partial());
}

template <class Real>
Losses Bert<Real>::take_losses() {
  return impl_->heads.take_losses();
}

template <class Real>
Real const* Bert<Real>::hidden_states(Index i) const {
  return impl_->encoder.hidden(i);
}

template class Bert<float>;
template class Bert<double>;

}  // namespace bellwether::model
