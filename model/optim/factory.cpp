// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/average/average.hpp"
#include "model/optim/strategies/one_bit/one_bit.hpp"

namespace bellwether::optim {

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context) {
  if (compresses(config.method)) return std::make_unique<OneBit>(config, context);
  return std::make_unique<Average>(config, context);
}

}  // namespace bellwether::optim
