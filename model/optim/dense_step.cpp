// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/dense_step.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace bellwether::optim {

DenseStep::DenseStep(OptimizerConfig const& config, OptimizerContext const& context, bool with_layers)
    : data_(context.groups.data),
      clip_(config.clip),
      blocks_(context.layout),
      mean_(context.groups.data, context.layout.count(), context.comm.dense_wire, context.comm.allreduce),
      partial_("bellwether::optim::gradient_squares", static_cast<std::size_t>(blocks_.count())),
      verdict_("bellwether::optim::verdict", 1),
      layers_("bellwether::optim::layer_record", with_layers ? 3 * context.layout.tensors().size() : 0),
      host_verdict_(Kokkos::create_mirror_view(verdict_)),
      host_layers_(Kokkos::create_mirror_view(layers_)),
      exec_(context.exec) {
  std::size_t const reported = layers_.extent(0) / 3;
  for (auto* const values : {&report_.trust_ratio, &report_.weight_norm, &report_.update_norm})
    values->assign(reported, std::numeric_limits<float>::quiet_NaN());
}

void DenseStep::reduce(Exec const& exec, Arena<>& gradients) {
  settle();
  exec_ = exec;
  std::int64_t const before = data_.traffic().sent_bytes;
  mean_.start(exec, gradients.flat());
  mean_.wait(exec);
  report_.sent_bytes = data_.traffic().sent_bytes - before;
  judge_gradient(exec, blocks_, gradients.data(), clip_, partial_, verdict_);
}

void DenseStep::finish(Exec const& exec) {
  Kokkos::deep_copy(exec, host_verdict_, verdict_);
  Kokkos::deep_copy(exec, host_layers_, layers_);
  pending_ = true;
}

void DenseStep::settle() const {
  if (!pending_) return;
  pending_ = false;
  // Kokkos takes reasons as std::string: made once, because a step allocates nothing.
  static std::string const reason = "bellwether::optim::report, kernels of the last step end before the host reads";
  exec_.fence(reason);
  Verdict const& verdict = host_verdict_(0);
  report_.skipped = verdict.skip != 0;
  report_.gradient_norm = verdict.norm;
  report_.clip_factor = verdict.clip_factor;
  report_.first_bad_layer = verdict.bad_tensor;
  ++(report_.skipped ? skipped_ : applied_);
  std::size_t const count = report_.trust_ratio.size();
  float const* from = host_layers_.data();
  for (auto* const values : {&report_.trust_ratio, &report_.weight_norm, &report_.update_norm}) {
    if (report_.skipped)
      std::fill(values->begin(), values->end(), std::numeric_limits<float>::quiet_NaN());
    else
      std::copy_n(from, count, values->begin());
    from += count;
  }
}

StepReport const& DenseStep::report() const {
  settle();
  return report_;
}

void DenseStep::visit_state(StateVisitor& visit) {
  settle();
  visit.scalar("applied_steps", applied_);
  visit.scalar("skipped_steps", skipped_);
  if (layers_.extent(0) > 0) visit.replicated("layer_record", {layers_.data(), layers_.extent(0)});
}

std::int64_t DenseStep::bytes() const {
  return mean_.buffer_bytes() + blocks_.bytes() +
         static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + sizeof(Verdict) +
                                   layers_.extent(0) * sizeof(float));
}

}  // namespace bellwether::optim
