// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/dense_step.hpp"

namespace bellwether::optim {
namespace {

/// Norms of gradients that are exchanged: one rank's own gradient is the mean.
Index norms_of(comm::Communicator const& data) { return data.size() > 1 ? data.size() : 0; }

}  // namespace

DenseStep::DenseStep(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record)
    : data_(context.groups.data),
      clip_(config.clip),
      record_(record),
      mean_(data_, context.layout.count(), context.comm.dense_wire, context.comm.allreduce),
      norm_mean_(data_, norms_of(data_), comm::Wire::fp32, comm::Allreduce::ordered),
      partial_("bellwether::optim::gradient_squares", static_cast<std::size_t>(record.blocks().count())),
      norms_("bellwether::optim::local_norms", static_cast<std::size_t>(norms_of(data_))),
      predicted_(predicted_bytes(context)) {}

StepReport& DenseStep::reduce(Exec const& exec, Arena<>& gradients) {
  auto& report = record_.open(exec);
  comm::Traffic const start = data_.traffic();
  if (norms_.extent(0) > 0) {
    place_norm(exec, record_.blocks(), gradients.data(), data_.rank(), partial_, norms_);
    norm_mean_.start(exec, norms_);
    norm_mean_.wait(exec);
  }
  comm::Traffic const before = data_.traffic();
  mean_.start(exec, gradients.flat());
  mean_.wait(exec);
  report.phase = Phase::dense;
  comm::Traffic const now = data_.traffic();
  report.sent = {.exchange = now.sent_bytes - before.sent_bytes,
                 .scalars = before.sent_bytes - start.sent_bytes,
                 .inside_node = now.inside_node_bytes - start.inside_node_bytes,
                 .dense_fp32 = predicted_.dense_fp32,
                 .dense_16bit = predicted_.dense_16bit};
  judge_gradient(exec, record_.blocks(), gradients.data(), clip_, partial_, record_.verdict(), norms_,
                 record_.norm_limit());
  return report;
}

SentBytes DenseStep::predicted_bytes(OptimizerContext const& context) {
  auto const& data = context.groups.data;
  auto const sent = [&](Index count, comm::Wire wire, comm::Allreduce method) {
    return comm::DenseMean::predicted_traffic(data, count, wire, method);
  };
  Index const n = context.layout.count();
  auto const exchange = sent(n, context.comm.dense_wire, context.comm.allreduce);
  auto const scalars = sent(norms_of(data), comm::Wire::fp32, comm::Allreduce::ordered);
  return {.exchange = exchange.sent_bytes,
          .scalars = scalars.sent_bytes,
          .inside_node = exchange.inside_node_bytes + scalars.inside_node_bytes,
          .dense_fp32 = sent(n, comm::Wire::fp32, comm::Allreduce::ordered).sent_bytes,
          .dense_16bit = sent(n, comm::Wire::bf16, comm::Allreduce::ordered).sent_bytes};
}

std::int64_t DenseStep::bytes() const {
  return mean_.buffer_bytes() + norm_mean_.buffer_bytes() +
         static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + norms_.extent(0) * sizeof(float));
}

}  // namespace bellwether::optim
