// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/optimizer_config.hpp"
#include "model/optim/registry.hpp"

namespace bellwether::optim {

/// Implement the functions of the same names of StrategyEntry for strategy one_bit.
std::vector<KernelBound> exchange_kernels(OptimizerConfig const& config, int ranks);
DecodedMean decoded_mean(OptimizerConfig const& config, int ranks);

}  // namespace bellwether::optim
