// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/average/average.hpp"

#include "core/system/error.hpp"

namespace bellwether::optim {

Average::Average(OptimizerConfig const& config, OptimizerContext const& context)
    : layout_(context.layout),
      sent_(DenseStep::predicted_bytes(context)),
      rule_(make_rule(config, context, Freezing::never)),
      record_(config, context, rule_->quantities()),
      dense_(config, context, record_) {}

void Average::reduce(Exec const& exec, Arena<>& local_gradients, StepScalars const& scalars) {
  require(scalars.step >= 1, "steps count from 1");
  require(local_gradients.count() == layout_.count(), "arenas have another layout than the optimizer");
  dense_.reduce(exec, local_gradients);
}

void Average::update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  require(parameters.count() == layout_.count(), "arenas have another layout than the optimizer");
  rule_->update(
      {.exec = exec, .record = record_, .parameters = parameters, .scratch = gradients.data(), .scalars = scalars},
      {.values = gradients.data()});
  record_.close(exec);
}

void Average::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
}

void Average::visit_state(StateVisitor& visit) {
  rule_->visit_state(visit);
  record_.visit_state(visit);
}

std::optional<SentBytes> Average::predicted_bytes(Phase phase) const {
  return phase == Phase::dense ? std::optional(sent_) : std::nullopt;
}

StrategyEntry average_strategy() {
  return {.name = "average",
          .help = "ranks average their gradients at every step",
          .traits = {},
          .make = [](OptimizerConfig const& config, OptimizerContext const& context) -> std::unique_ptr<Optimizer> {
            return std::make_unique<Average>(config, context);
          },
          .refusal = [](RuleEntry const&) { return std::string(); }};
}

}  // namespace bellwether::optim
