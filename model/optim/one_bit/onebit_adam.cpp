// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/one_bit/onebit_adam.hpp"

#include "model/optim/one_bit/bit_kernels.hpp"
#include "model/optim/one_bit/exchange_form.hpp"
#include "model/optim/one_bit/onebit_kernels.hpp"
#include "model/optim/rules/dense_kernels.hpp"

namespace bellwether::optim {

void OnebitAdam::dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  adamw_update(exec, record().blocks(), rules(), coefficients<float>(config(), scalars.step), scalars.learning_rate,
               record().gradient_check(), gradients.data(), parameters.data(), momentum(), variance()->data());
}

MadeStep OnebitAdam::made_step(Arena<> const& gradients) const {
  if (freezes_variance()) return {.direction = gradients.data()};
  return {.variance = variance()->data(), .epsilon = static_cast<float>(config().epsilon)};
}

void OnebitAdam::compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients,
                                   StepScalars const& scalars, StepReport& report) {
  auto const& gradient_check = record().gradient_check();
  auto const c = coefficients<float>(config(), scalars.step);
  auto const units = compressed().units(variance());
  float* const direction = scalars.layers ? gradients.data() : nullptr;
  auto const mean = with_exchange_form(units, c, held_momentum(), gradients.data(), gradient_check.data(),
                                       [&](auto const& form) { return compressed().exchange(exec, form, report); });
  if (keeps_bits()) {
    bit_apply(exec, record().blocks(), rules(), units, mean, scalars.learning_rate, gradient_check, nullptr,
              parameters.data(), direction);
    keep_bits(exec, mean);
    return;
  }
  onebit_adam_apply(exec, record().blocks(), rules(), c, units, mean, scalars.learning_rate, gradient_check,
                    variance()->data(), parameters.data(), momentum(), direction);
}

}  // namespace bellwether::optim
