// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/local_sgd.hpp"

namespace bellwether::test {

LocalSgd::LocalSgd(optim::OptimizerContext const& context, std::int64_t period)
    : data_(context.groups.data),
      mean_(std::make_unique<comm::DenseMean>(context.groups.data, context.layout.count(), comm::Wire::fp32,
                                              comm::Allreduce::ordered)),
      period_(period) {
  report_.phase = optim::Phase::dense;
}

void LocalSgd::update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, optim::StepScalars const& scalars) {
  float* const x = parameters.data();
  float const* const g = gradients.data();
  float const rate = static_cast<float>(scalars.learning_rate);
  Kokkos::parallel_for(
      "bellwether::test::local_sgd", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, parameters.count()),
      KOKKOS_LAMBDA(Index k) { x[k] -= rate * g[k]; });
  std::int64_t const before = data_.traffic().sent_bytes;
  if (++steps_ % period_ == 0) {
    mean_->start(exec, parameters.flat());
    mean_->wait(exec);
  }
  report_.sent.exchange = data_.traffic().sent_bytes - before;
}

void LocalSgd::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
  mean_->start(exec, out.flat());
  mean_->wait(exec);
}

}  // namespace bellwether::test
