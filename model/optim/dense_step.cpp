// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/dense_step.hpp"

namespace bellwether::optim {

DenseStep::DenseStep(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record)
    : data_(context.groups.data),
      clip_(config.clip),
      record_(record),
      mean_(data_, context.layout.count(), context.comm.dense_wire, context.comm.allreduce),
      partial_("bellwether::optim::gradient_squares", static_cast<std::size_t>(record.blocks().count())),
      fp32_bytes_(predicted_bytes(context).dense_fp32) {}

StepReport& DenseStep::reduce(Exec const& exec, Arena<>& gradients) {
  auto& report = record_.open(exec);
  std::int64_t const before = data_.traffic().sent_bytes;
  mean_.start(exec, gradients.flat());
  mean_.wait(exec);
  report.phase = Phase::dense;
  report.sent = {.exchange = data_.traffic().sent_bytes - before, .dense_fp32 = fp32_bytes_};
  judge_gradient(exec, record_.blocks(), gradients.data(), clip_, partial_, record_.verdict());
  return report;
}

SentBytes DenseStep::predicted_bytes(OptimizerContext const& context) {
  auto const& data = context.groups.data;
  auto const sent = [&](comm::Wire wire, comm::Allreduce method) {
    return comm::DenseMean::predicted_bytes(context.layout.count(), data.rank(), data.size(), wire, method);
  };
  return {.exchange = sent(context.comm.dense_wire, context.comm.allreduce),
          .dense_fp32 = sent(comm::Wire::fp32, comm::Allreduce::ordered)};
}

std::int64_t DenseStep::bytes() const {
  return mean_.buffer_bytes() + static_cast<std::int64_t>(partial_.extent(0) * sizeof(double));
}

}  // namespace bellwether::optim
