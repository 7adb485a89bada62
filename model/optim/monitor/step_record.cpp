// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/monitor/step_record.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellwether::optim {

std::vector<float> const& StepReport::layer(std::string_view name) const {
  auto const found = std::ranges::find(layers, name, &LayerQuantity::name);
  require(found != layers.end(), "the method has no such number by layer");
  return found->values;
}

StepRecord::StepRecord(OptimizerConfig const& config, OptimizerContext const& context,
                       std::vector<std::string_view> const& quantities)
    : tensors_(context.layout.tensors().size()),
      blocks_(context.layout),
      gradient_check_("bellwether::optim::gradient_check", 1),
      layers_("bellwether::optim::layer_record", quantities.size() * tensors_),
      norm_limit_(config.norm_limit),
      norm_history_("bellwether::optim::norm_history", norm_limit_ ? 2 : 0),
      host_gradient_check_(host_copy_of(gradient_check_)),
      host_layers_(host_copy_of(layers_)),
      exec_(context.exec) {
  for (auto const name : quantities)
    report_.layers.push_back({name, std::vector<float>(tensors_, std::numeric_limits<float>::quiet_NaN())});
}

StepReport& StepRecord::open(Exec const& exec) {
  read_back();
  exec_ = exec;
  report_.notices.clear();
  return report_;
}

NormLimit StepRecord::norm_limit() const {
  // The weight after 20 steps, less half a step because weights are rounded.
  static double const known = 1 - std::pow(NormLimit::memory, 19.5);
  if (!norm_limit_) return {};
  return {.limit = *norm_limit_, .known_weight = known, .history = norm_history_.data()};
}

void StepRecord::close(Exec const& exec) {
  Kokkos::deep_copy(exec, host_gradient_check_, gradient_check_);
  Kokkos::deep_copy(exec, host_layers_, layers_);
  closed_.mark(exec);
  pending_ = true;
}

void StepRecord::read_back() const {
  if (!pending_) return;
  pending_ = false;
  closed_.wait(exec_, closed_.marked());  // not for kernels of the next step, which may be running
  GradientCheck const& gradient_check = host_gradient_check_(0);
  report_.skipped = gradient_check.skip != 0;
  report_.gradient_norm = gradient_check.norm;
  report_.clip_factor = gradient_check.clip_factor;
  report_.mean_square = gradient_check.mean_square;
  report_.local_square = gradient_check.local_square;
  report_.first_bad_layer = gradient_check.bad_tensor;
  report_.bad_rank = gradient_check.bad_rank;
  report_.usual_norm = gradient_check.usual_norm;
  ++(report_.skipped ? skipped_ : applied_);
  float const* from = host_layers_.data();
  for (auto& quantity : report_.layers) {
    if (report_.skipped)
      std::ranges::fill(quantity.values, std::numeric_limits<float>::quiet_NaN());
    else
      std::copy_n(from, tensors_, quantity.values.begin());
    from += tensors_;
  }
}

StepReport const& StepRecord::report() const {
  read_back();
  return report_;
}

std::int64_t StepRecord::applied_steps() const {
  read_back();
  return applied_;
}

void StepRecord::visit_state(StateVisitor& visit) {
  read_back();
  visit.scalar(counter("applied_steps"), applied_);
  visit.scalar(counter("skipped_steps"), skipped_);
  if (!norm_limit_)
    visit.drop("norm_history");
  else if (visit.has("norm_history"))
    visit.array(replicated("norm_history"), {norm_history_.data(), norm_history_.extent(0)});
  if (layers_.extent(0) > 0) visit.array(replicated("layer_record").may_be_nan(), {layers_.data(), layers_.extent(0)});
}

std::int64_t StepRecord::bytes() const {
  return blocks_.bytes() + static_cast<std::int64_t>(sizeof(GradientCheck) +
                                                     (layers_.extent(0) + norm_history_.extent(0)) * sizeof(float));
}

}  // namespace bellwether::optim
