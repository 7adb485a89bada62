// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/optimizer.hpp"

#include "core/system/error.hpp"
#include "model/optim/registry.hpp"

namespace bellwether::optim {

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context) {
  if (auto const reason = registry().refusal(config.method); !reason.empty())
    throw InputError(name_of(config.method) + ": " + reason);
  return strategy_of(config.method).make(config, context);
}

}  // namespace bellwether::optim
