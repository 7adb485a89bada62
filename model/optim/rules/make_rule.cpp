// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "model/optim/rules/adamw.hpp"
#include "model/optim/rules/lamb.hpp"
#include "model/optim/rules/sgd.hpp"

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

}  // namespace bellwether::optim
