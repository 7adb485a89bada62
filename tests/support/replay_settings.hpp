// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "model/optim/optimizer_config.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace bellwether::test {

/// Settings in `optimizer` of a replay file. Missing keys have the papers' values, not the deck's defaults.
struct ReplaySettings {
  optim::OptimizerConfig optimizer;  ///< without rate and decay, which the file gives by step and by tensor
  comm::CommConfig comm;
  std::int64_t seed = 0;
};

/// Reads the settings with the deck's descriptions and checks. `name` is the deck's `method`, `betas` its beta1 and
/// beta2. A key that the method does not have is allowed if it has its default value.
/// \throws InputError with all faults, each as "optimizer.freeze.step: what; what is allowed".
ReplaySettings read_settings(nlohmann::json const& settings);

/// Reads a number in the range of the deck's optimizer.`key`. \throws InputError "path: what; what is allowed".
double read_deck_number(std::string const& key, std::string const& path, nlohmann::json const& number);

}  // namespace bellwether::test
