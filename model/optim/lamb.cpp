// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/lamb.hpp"

#include "core/error.hpp"
#include "model/optim/lamb_kernels.hpp"

namespace bellwether::optim {

Lamb::Lamb(OptimizerConfig const& config, OptimizerContext const& context)
    : config_(config),
      sent_(DenseStep::predicted_bytes(context)),
      momentum_(context.layout, "bellwether::optim::momentum"),
      variance_(context.layout, "bellwether::optim::variance"),
      rules_(tensor_rules<Exec>(context.layout, config.weight_decay)),
      record_(config, context, {"trust_ratio", "weight_norm", "update_norm"}),
      dense_(config, context, record_),
      norms_("bellwether::optim::norms", static_cast<std::size_t>(2 * record_.blocks().count())) {
  if (config.min_coefficient > config.max_coefficient)
    throw InputError("optimizer.min_coefficient is above optimizer.max_coefficient; at most as large is allowed");
}

void Lamb::step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) {
  require(scalars.step >= 1, "steps count from 1");
  require(parameters.count() == momentum_.count() && local_gradients.count() == momentum_.count(),
          "arenas of another layout");
  dense_.reduce(exec, local_gradients);
  auto const& blocks = record_.blocks();
  auto const& verdict = record_.verdict();
  LayerRecord const layers{record_.layer(0), record_.layer(1), record_.layer(2)};
  lamb_moments(exec, blocks, rules_, coefficients<float>(config_, scalars.step), verdict, parameters.data(),
               local_gradients.data(), momentum_.data(), variance_.data(), norms_);
  lamb_ratios(exec, blocks, rules_, {config_.min_coefficient, config_.max_coefficient}, verdict, norms_, layers);
  lamb_apply(exec, blocks, scalars.learning_rate, verdict, layers, local_gradients.data(), parameters.data());
  record_.close(exec);
}

void Lamb::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
}

void Lamb::visit_state(StateVisitor& visit) {
  visit.replicated("momentum", momentum_.span());
  visit.not_negative("variance", variance_.span());
  record_.visit_state(visit);
}

std::optional<SentBytes> Lamb::predicted_bytes(Phase phase) const {
  return phase == Phase::dense ? std::optional(sent_) : std::nullopt;
}

std::int64_t Lamb::state_bytes() const {
  return 2 * momentum_.count() * static_cast<std::int64_t>(sizeof(float)) +
         static_cast<std::int64_t>(rules_.extent(0) * sizeof(TensorRule) + norms_.extent(0) * sizeof(double)) +
         record_.bytes() + dense_.bytes();
}

}  // namespace bellwether::optim
