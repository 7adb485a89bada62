// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/sgd.hpp"

#include "model/optim/registry.hpp"
#include "model/optim/rules/decoded_kernels.hpp"
#include "model/optim/rules/dense_kernels.hpp"

namespace bellwether::optim {

Sgd::Sgd(OptimizerConfig const& settings, OptimizerContext const& context)
    : UpdateRule(settings, context), momentum_(context.exec, context.layout) {}

void Sgd::update(RuleStep const& step, ReducedGradient const& gradient) {
  auto const beta1 = static_cast<float>(config().beta1);
  auto const context = step.context(tensors());
  double const rate = step.scalars.learning_rate;
  float* const parameters = step.parameters.data();
  float* const momentum = momentum_.numbers();
  if (gradient.in_memory())
    sgd_apply(step.exec, context,
              {.beta1 = beta1,
               .learning_rate = rate,
               .gradient = gradient.values,
               .parameters = parameters,
               .momentum = momentum});
  else
    decoded_sgd_apply(step.exec, context,
                      {.beta1 = beta1,
                       .mean = gradient.decoded,
                       .learning_rate = rate,
                       .parameters = parameters,
                       .momentum = momentum});
}

RuleEntry sgd_rule() {
  return {.name = "sgd",
          .title = "SGD with momentum",
          .help = "stochastic gradient descent with momentum",
          .traits = {.decodes = true},
          .make = [](OptimizerConfig const& config, OptimizerContext const& context,
                     Freezing) -> std::unique_ptr<UpdateRule> { return std::make_unique<Sgd>(config, context); },
          .dense_kernels =
              [] {
                return std::vector<KernelBound>{{"bellwether::optim::sgd_apply", 20, 20}};  // read g, m, x; write m, x
              },
          .decoded_kernels =
              [](DecodedMean const& mean) {
                return std::vector<KernelBound>{
                    {"bellwether::optim::decoded_sgd_apply", 16.125, 16 + mean.bytes}};  // read m, x; write m, x
              }};
}

}  // namespace bellwether::optim
