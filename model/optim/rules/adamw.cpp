// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/adamw.hpp"

#include "model/optim/registry.hpp"
#include "model/optim/rules/bit_kernels.hpp"
#include "model/optim/rules/decoded_kernels.hpp"
#include "model/optim/rules/dense_kernels.hpp"

namespace bellwether::optim {
namespace {

std::vector<KernelBound> decoded_adam_kernels(DecodedMean const& mean) {
  constexpr double bit = 1.0 / 8;
  double const apply = 8 + (mean.by_root ? 0 : 4);  // read x, and the variance unless bits are in its units; write x
  if (mean.in_bits)
    return {{"bellwether::optim::bit_apply", apply + bit, apply + mean.bytes},
            {"bellwether::optim::keep_momentum_bits", 0, 4 * bit}};
  // Read m, v, x; write m, x.
  return {{"bellwether::optim::decoded_adam_apply", mean.momenta ? apply + bit : 20.125, 20 + mean.bytes}};
}

}  // namespace

AdamW::AdamW(OptimizerConfig const& settings, OptimizerContext const& context)
    : UpdateRule(settings, context),
      momentum_(context.exec, context.layout),
      variance_(context.layout, "bellwether::optim::variance") {}

void AdamW::update(RuleStep const& step, ReducedGradient const& gradient) {
  wrote_direction_ = !gradient.in_memory();
  if (!gradient.in_memory()) return decoded_update(step, gradient);
  adamw_update(step.exec, step.context(tensors()),
               {.coefficients = coefficients<float>(config(), step.scalars.step),
                .learning_rate = step.scalars.learning_rate,
                .gradient = gradient.values,
                .parameters = step.parameters.data(),
                .momentum = momentum_.numbers(),
                .variance = variance_.data()});
}

void AdamW::decoded_update(RuleStep const& step, ReducedGradient const& gradient) {
  auto const& [_, mean, units] = gradient;
  auto const context = step.context(tensors());
  double const rate = step.scalars.learning_rate;
  float* const parameters = step.parameters.data();
  float* const direction = step.scalars.layers ? step.scratch : nullptr;
  if (momentum_.in_bits()) {
    bit_apply(step.exec, context,
              {.units = units,
               .mean = mean,
               .learning_rate = rate,
               .ratios = nullptr,
               .parameters = parameters,
               .direction = direction});
    momentum_.keep(mean, units.growth, context.gradient_check);
  } else {
    decoded_adam_apply(step.exec, context,
                       {.coefficients = coefficients<float>(config(), step.scalars.step),
                        .units = units,
                        .mean = mean,
                        .learning_rate = rate,
                        .variance = variance_.data(),
                        .parameters = parameters,
                        .momentum = momentum_.numbers(),
                        .direction = direction});
  }
}

MadeStep AdamW::made_step(float const* scratch) const {
  if (wrote_direction_) return {.direction = scratch};
  return {.variance = variance_.data(), .epsilon = static_cast<float>(config().epsilon)};
}

void AdamW::visit_state(StateVisitor& visit) {
  momentum_.visit_state(visit);
  visit.array(replicated("variance").not_negative(), variance_.span());
}

std::int64_t AdamW::bytes() const {
  return momentum_.number_bytes() + static_cast<std::int64_t>(variance_.span().size_bytes()) + tensor_bytes();
}

RuleEntry adamw_rule() {
  return {.name = "adamw",
          .title = "AdamW",
          .help = "Adam with decoupled weight decay",
          .traits = {.variance = true, .bias_correction = true, .decodes = true},
          .make = [](OptimizerConfig const& config, OptimizerContext const& context,
                     Freezing) -> std::unique_ptr<UpdateRule> { return std::make_unique<AdamW>(config, context); },
          .dense_kernels =
              [] {
                return std::vector<KernelBound>{
                    {"bellwether::optim::adamw_update", 28, 28}};  // read g, m, v, x; write m, v, x
              },
          .decoded_kernels = decoded_adam_kernels};
}

}  // namespace bellwether::optim
