// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/one_bit/onebit_sgd.hpp"

#include "model/optim/one_bit/exchange_form.hpp"
#include "model/optim/one_bit/onebit_kernels.hpp"
#include "model/optim/rules/dense_kernels.hpp"

namespace bellwether::optim {

void OnebitSgd::dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  sgd_apply(exec, record().blocks(), rules(), static_cast<float>(config().beta1), scalars.learning_rate,
            record().gradient_check(), gradients.data(), parameters.data(), momentum());
}

void OnebitSgd::compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars,
                                  StepReport& report) {
  auto const& gradient_check = record().gradient_check();
  require_neighbours<Exec>(parameters.data(), gradients.data());
  GradientForm const form{compressed().units(nullptr), rules().data(), parameters.data(), gradients.data(),
                          gradient_check.data()};
  auto const mean = compressed().exchange(exec, form, report);
  onebit_sgd_apply(exec, record().blocks(), rules(), static_cast<float>(config().beta1), mean, scalars.learning_rate,
                   gradient_check, parameters.data(), momentum());
}

}  // namespace bellwether::optim
