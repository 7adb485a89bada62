// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/uncompressed_optimizer.hpp"

#include "core/system/error.hpp"
#include "model/optim/rules/dense_kernels.hpp"

namespace bellwether::optim {

Uncompressed::Uncompressed(OptimizerConfig const& config, OptimizerContext const& context,
                           std::vector<std::string_view> const& quantities)
    : config_(config),
      sent_(DenseStep::predicted_bytes(context)),
      momentum_(context.layout, "bellwether::optim::momentum"),
      variance_(context.layout, "bellwether::optim::variance"),
      rules_(tensor_rules<Exec>(context.layout, config.weight_decay)),
      record_(config, context, quantities),
      dense_(config, context, record_) {}

void Uncompressed::step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) {
  require(scalars.step >= 1, "steps count from 1");
  require(parameters.count() == momentum_.count() && local_gradients.count() == momentum_.count(),
          "arenas have another layout than the optimizer");
  dense_.reduce(exec, local_gradients);
  update(exec, parameters, local_gradients, scalars);
  record_.close(exec);
}

void Uncompressed::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
}

void Uncompressed::visit_state(StateVisitor& visit) {
  visit.replicated("momentum", momentum_.span());
  visit.not_negative("variance", variance_.span());
  record_.visit_state(visit);
}

std::optional<SentBytes> Uncompressed::predicted_bytes(Phase phase) const {
  return phase == Phase::dense ? std::optional(sent_) : std::nullopt;
}

std::int64_t Uncompressed::state_bytes() const {
  return 2 * momentum_.count() * static_cast<std::int64_t>(sizeof(float)) +
         static_cast<std::int64_t>(rules_.extent(0) * sizeof(TensorRule)) + record_.bytes() + dense_.bytes() +
         more_bytes();
}

Lamb::Lamb(OptimizerConfig const& config, OptimizerContext const& context)
    : Uncompressed(config, context, {"trust_ratio", "weight_norm", "update_norm"}),
      norms_("bellwether::optim::norms", static_cast<std::size_t>(2 * record().blocks().count())) {
  if (config.min_coefficient > config.max_coefficient)
    throw InputError(
        "optimizer.min_coefficient is above optimizer.max_coefficient; allowed: at most optimizer.max_coefficient");
}

void Lamb::update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  auto const& blocks = record().blocks();
  auto const& gradient_check = record().gradient_check();
  LayerRecord const layers{record().layer(0), record().layer(1), record().layer(2)};
  lamb_moments(exec, blocks, rules(), coefficients<float>(config(), scalars.step), gradient_check, parameters.data(),
               gradients.data(), momentum(), variance(), norms_);
  lamb_ratios(exec, blocks, rules(), {config().min_coefficient, config().max_coefficient}, gradient_check, norms_,
              layers);
  lamb_apply(exec, blocks, scalars.learning_rate, gradient_check, layers, gradients.data(), parameters.data());
}

std::int64_t Lamb::more_bytes() const { return static_cast<std::int64_t>(norms_.extent(0) * sizeof(double)); }

void AdamW::update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  adamw_update(exec, record().blocks(), rules(), coefficients<float>(config(), scalars.step), scalars.learning_rate,
               record().gradient_check(), gradients.data(), parameters.data(), momentum(), variance());
}

}  // namespace bellwether::optim
