// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/bert.hpp"

#include "core/memory/convert.hpp"
#include "model/bert/encoder.hpp"
#include "model/heads/pretraining_heads.hpp"

#include <type_traits>

namespace bellwether::model {

template <class Real>
struct Bert<Real>::Impl {
  Impl(Exec const& space, ModelConfig const& config, Capacity const& capacity)
      : exec(space), layout(bert_layout(config, capacity.longest)), batch(capacity, workspace) {}
  virtual ~Impl() = default;
  virtual void set_parameters(Real const* values) = 0;
  virtual void train(Real* gradients, Batch const& pass, LossScale const& scale, GradientReady const& ready) = 0;
  virtual void evaluate(Batch const& pass) = 0;
  virtual void store_losses() = 0;
  virtual Losses stored_losses() = 0;
  virtual std::vector<Real> hidden_states(Index i) const = 0;

  Exec exec;
  BertLayout layout;
  Workspace workspace;
  DeviceBatch batch;
};

template <class Real>
template <class Stored>
struct Bert<Real>::Model final : Bert<Real>::Impl {
  Model(Exec const& space, ModelConfig const& config, Capacity const& capacity, std::uint64_t seed,
        ApproveMemory const& approve)
      : Impl(space, config, capacity),
        encoder_(space, config, this->layout, capacity, seed, this->workspace),
        heads_(space, config, this->layout, capacity, this->workspace),
        layers_(config.layers),
        hidden_(config.hidden) {
    auto& planned = this->workspace;
    if constexpr (rounds) planned.want(matrices_, this->layout.table.count());
    planned.want(dhidden_, capacity.sequences * capacity.longest * hidden_);
    if (approve) approve(this->layout.table.count(), planned.bytes());
    planned.allocate("bellwether::model::workspace");
  }

  void set_parameters(Real const* values) override {
    if constexpr (rounds) {
      convert("bellwether::model::round_matrices", this->exec, this->layout.table.count(), values, matrices_);
      parameters_ = {values, matrices_};
    } else {
      parameters_ = {values, values};
    }
  }
  void train(Real* gradients, Batch const& pass, LossScale const& scale, GradientReady const& ready) override {
    this->batch.load(this->exec, pass);
    encoder_.forward(parameters_, this->batch, true);
    heads_.run(parameters_,
               {.batch = this->batch, .hidden = encoder_.hidden(layers_), .gradients = gradients, .dhidden = dhidden_},
               scale, encoder_.partial());
    ready(this->layout.heads_first, this->layout.table.count());
    encoder_.backward(parameters_, gradients, this->batch, dhidden_, ready);
  }
  void evaluate(Batch const& pass) override {
    this->batch.load(this->exec, pass);
    encoder_.forward(parameters_, this->batch, false);
    heads_.run(parameters_, {.batch = this->batch, .hidden = encoder_.hidden(layers_)}, {}, encoder_.partial());
  }
  void store_losses() override { heads_.store_losses(); }
  Losses stored_losses() override { return heads_.stored_losses(); }
  std::vector<Real> hidden_states(Index i) const override {
    auto const count = static_cast<std::size_t>(this->batch.tokens * hidden_);
    std::vector<Stored> stored(count);
    Kokkos::View<Stored*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const to(stored.data(), count);
    Kokkos::deep_copy(this->exec, to, Kokkos::View<Stored*, Mem, Kokkos::MemoryUnmanaged>(encoder_.hidden(i), count));
    this->exec.fence("bellwether::model::hidden_states on the host");
    return {stored.begin(), stored.end()};
  }

 private:
  static constexpr bool rounds = !std::is_same_v<Real, Stored>;

  Encoder<Real, Stored> encoder_;
  PretrainingHeads<Real, Stored> heads_;
  Index layers_, hidden_;  // L, C
  Parameters<Real, Stored> parameters_{};
  Stored* matrices_ = nullptr;  // (n) all parameters, rounded
  Real* dhidden_ = nullptr;     // (T, C)
};

template <class Real>
Bert<Real>::Bert(Exec const& exec, ModelConfig const& config, Capacity const& capacity, std::uint64_t seed,
                 ApproveMemory const& approve) {
  if constexpr (std::is_same_v<Real, float>)
    if (config.compute == ComputeType::bf16) {
      impl_ = std::make_unique<Model<bf16>>(exec, config, capacity, seed, approve);
      return;
    }
  impl_ = std::make_unique<Model<Real>>(exec, config, capacity, seed, approve);
}
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
void Bert<Real>::set_parameters(Real const* parameters) {
  impl_->set_parameters(parameters);
}

template <class Real>
void Bert<Real>::train(Real* gradients, Batch const& batch, LossScale const& scale, GradientReady const& ready) {
  impl_->train(gradients, batch, scale, ready);
}

template <class Real>
void Bert<Real>::evaluate(Batch const& batch) {
  impl_->evaluate(batch);
}

template <class Real>
void Bert<Real>::store_losses() {
  impl_->store_losses();
}

template <class Real>
Losses Bert<Real>::stored_losses() {
  return impl_->stored_losses();
}

template <class Real>
std::vector<Real> Bert<Real>::hidden_states(Index i) const {
  return impl_->hidden_states(i);
}

template class Bert<float>;
template class Bert<double>;

}  // namespace bellwether::model
