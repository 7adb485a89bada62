// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "model/optim/rules/adamw.hpp"
#include "model/optim/rules/lamb.hpp"
#include "model/optim/rules/sgd.hpp"
#include "model/optim/strategies/average/average.hpp"
#include "model/optim/strategies/one_bit/one_bit.hpp"

namespace bellwether::optim {

std::unique_ptr<UpdateRule> make_rule(OptimizerConfig const& config, OptimizerContext const& context,
                                      Freezing freezing) {
  switch (config.method) {
    case Method::lamb:
    case Method::onebit_lamb:
      return std::make_unique<Lamb>(config, context, freezing);
    case Method::adamw:
    case Method::onebit_adam:
      return std::make_unique<AdamW>(config, context);
    case Method::onebit_sgd:
      return std::make_unique<Sgd>(config, context);
  }
  throw InternalError("unknown optimizer method");
}

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context) {
  if (compresses(config.method)) return std::make_unique<OneBit>(config, context);
  return std::make_unique<Average>(config, context);
}

}  // namespace bellwether::optim
