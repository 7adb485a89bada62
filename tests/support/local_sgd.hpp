// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "model/optim/optimizer.hpp"

namespace bellwether::test {

/// Local SGD (Stich, arXiv 1805.09767): x <- x - lr g on every rank separately. Every `period` steps the parameters
/// become their mean over ranks. It is the smallest method whose parameters differ between ranks, and tests that no
/// code assumes they are equal.
class LocalSgd final : public optim::Optimizer {
 public:
  LocalSgd(optim::OptimizerContext const& context, std::int64_t period);

  void gradient_ready(Exec const&, Arena<>&, optim::SliceRange) override {}
  void forget_gradients(Exec const&, Arena<>&) override {}
  void reduce(Exec const&, Arena<>&, optim::StepScalars const&) override {}
  void check_gradient(Exec const&, Arena<> const&) override {}
  void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, optim::StepScalars const& scalars) override;
  optim::Replication replication() const override { return optim::Replication::per_rank; }
  void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const override;
  void visit_state(StateVisitor& visit) override { visit.scalar({"steps"}, steps_); }
  optim::StepReport const& last_report() const override { return report_; }
  std::int64_t state_bytes() const override { return mean_->buffer_bytes(); }
  std::optional<optim::SentBytes> predicted_bytes(optim::Phase) const override { return std::nullopt; }

 private:
  comm::Communicator& data_;
  std::unique_ptr<comm::DenseMean> mean_;
  std::int64_t period_;
  std::int64_t steps_ = 0;
  optim::StepReport report_;
};

}  // namespace bellwether::test
