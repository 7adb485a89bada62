// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "model/optim/one_bit/onebit_adam.hpp"
#include "model/optim/one_bit/onebit_lamb.hpp"
#include "model/optim/one_bit/onebit_sgd.hpp"
#include "model/optim/rules/uncompressed_optimizer.hpp"

namespace bellwether::optim {

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context) {
  switch (config.method) {
    case Method::lamb:
      return std::make_unique<Lamb>(config, context);
    case Method::adamw:
      return std::make_unique<AdamW>(config, context);
    case Method::onebit_lamb:
      return std::make_unique<OnebitLamb>(config, context);
    case Method::onebit_adam:
      return std::make_unique<OnebitAdam>(config, context);
    case Method::onebit_sgd:
      return std::make_unique<OnebitSgd>(config, context);
  }
  throw InternalError("unknown optimizer method");
}

}  // namespace bellwether::optim
