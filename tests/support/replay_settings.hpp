// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "model/optim/optimizer_config.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace bellwether::test {

/// What `optimizer` of a replay file says. Where it says nothing, the papers' form in place of the deck's defaults.
struct ReplaySettings {
  optim::OptimizerConfig optimizer;  ///< but rate and decay, which the file gives by step and by tensor
  comm::CommConfig comm;
  std::int64_t seed = 0;
};

/// The deck's keys by the deck's own descriptions and checks. `name` is the deck's `method`, `betas` its beta1 and
/// beta2; a key that the method does not have may be given as long as it says its default.
/// \throws InputError with every fault, "optimizer.freeze.step: what; what is allowed".
ReplaySettings read_settings(nlohmann::json const& settings);

/// A number in the range of the deck's optimizer.`key`. \throws InputError "path: what; what is allowed".
double read_deck_number(std::string const& key, std::string const& path, nlohmann::json const& number);

}  // namespace bellwether::test
