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
  comm::Traffic const before = data_.traffic();
  mean_.start(exec, gradients.flat());
  mean_.wait(exec);
  report.phase = Phase::dense;
  comm::Traffic const now = data_.traffic();
  report.sent = {.exchange = now.sent_bytes - before.sent_bytes,
                 .inside_node = now.inside_node_bytes - before.inside_node_bytes,
                 .dense_fp32 = fp32_bytes_};
  judge_gradient(exec, record_.blocks(), gradients.data(), clip_, partial_, record_.verdict());
  return report;
}

SentBytes DenseStep::predicted_bytes(OptimizerContext const& context) {
  auto const& data = context.groups.data;
  auto const sent = [&](comm::Wire wire, comm::Allreduce method) {
    return comm::DenseMean::predicted_traffic(data, context.layout.count(), wire, method);
  };
  auto const exchange = sent(context.comm.dense_wire, context.comm.allreduce);
  return {.exchange = exchange.sent_bytes,
          .inside_node = exchange.inside_node_bytes,
          .dense_fp32 = sent(comm::Wire::fp32, comm::Allreduce::ordered).sent_bytes};
}

std::int64_t DenseStep::bytes() const {
  return mean_.buffer_bytes() + static_cast<std::int64_t>(partial_.extent(0) * sizeof(double));
}

}  // namespace bellwether::optim
