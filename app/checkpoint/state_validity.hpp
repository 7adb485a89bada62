// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/launch/collective_errors.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

/// Training from state that is not finite skips every step and blames gradients for it: such state is neither read nor
/// written.
namespace bellwether::app {

struct TrainingState;

/// What the numbers of a data set may be.
enum class Allowed { finite, not_negative, any };

/// The first value that is not allowed. One pass, 4 bytes a value.
std::optional<std::int64_t> first_unsound(std::span<float const> values, Allowed allowed);
/// "value 5 is nan; allowed: finite numbers".
std::string unsound_text(std::int64_t at, float value, Allowed allowed);

/// Why a checkpoint is not completed that could have been written. On one rank.
class UnsoundValues : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};
/// The same where all ranks know.
class UnsoundState : public CommonFailure {
 public:
  using CommonFailure::CommonFailure;
};

/// Collective. Looks through what every rank holds, in pieces through host memory: not for every step. Returns what is
/// not sound, and on which rank, on all ranks; empty: all is.
std::string unsound_state(comm::RankGroup& group, TrainingState const& state);

}  // namespace bellwether::app
