// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/adamw.hpp"

#include "core/error.hpp"
#include "model/optim/adamw_kernels.hpp"

namespace bellwether::optim {

AdamW::AdamW(OptimizerConfig const& config, OptimizerContext const& context)
    : config_(config),
      sent_(DenseStep::predicted_bytes(context)),
      momentum_(context.layout, "bellwether::optim::momentum"),
      variance_(context.layout, "bellwether::optim::variance"),
      rules_(tensor_rules<Exec>(context.layout, config.weight_decay)),
      record_(config, context, {}),
      dense_(config, context, record_) {}

void AdamW::step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) {
  require(scalars.step >= 1, "steps count from 1");
  require(parameters.count() == momentum_.count() && local_gradients.count() == momentum_.count(),
          "arenas of another layout");
  dense_.reduce(exec, local_gradients);
  adamw_update(exec, record_.blocks(), rules_, coefficients<float>(config_, scalars.step), scalars.learning_rate,
               record_.verdict(), local_gradients.data(), parameters.data(), momentum_.data(), variance_.data());
  record_.close(exec);
}

void AdamW::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
}

void AdamW::visit_state(StateVisitor& visit) {
  visit.replicated("momentum", momentum_.span());
  visit.not_negative("variance", variance_.span());
  record_.visit_state(visit);
}

std::optional<SentBytes> AdamW::predicted_bytes(Phase phase) const {
  return phase == Phase::dense ? std::optional(sent_) : std::nullopt;
}

std::int64_t AdamW::state_bytes() const {
  return 2 * momentum_.count() * static_cast<std::int64_t>(sizeof(float)) +
         static_cast<std::int64_t>(rules_.extent(0) * sizeof(TensorRule)) + record_.bytes() + dense_.bytes();
}

}  // namespace bellwether::optim
