// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/error.hpp"
#include "model/optim/adamw.hpp"
#include "model/optim/lamb.hpp"

namespace bellwether::optim {

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context) {
  switch (config.method) {
    case Method::lamb:
      return std::make_unique<Lamb>(config, context);
    case Method::adamw:
      return std::make_unique<AdamW>(config, context);
  }
  throw InternalError("unknown optimizer method");
}

}  // namespace bellwether::optim
