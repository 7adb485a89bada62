// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/launch/collective_errors.hpp"
#include "core/layout/state_visitor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

/// Checks that saved and loaded state is valid. Training from non-finite state would skip every step and blame the
/// gradients, so such state is neither read nor written.
namespace bellwether::app {

struct TrainingState;

/// Returns the index of the first value outside `range`. One pass, 4 bytes per value.
std::optional<std::int64_t> first_unsound(std::span<float const> values, ValueRange range);
/// Returns "value 5 is nan; allowed: finite numbers".
std::string unsound_text(std::int64_t at, float value, ValueRange range);

/// A checkpoint that could be written is not completed because its values are invalid. Thrown on one rank.
class UnsoundValues : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};
/// The same, thrown on all ranks.
class UnsoundState : public CommonFailure {
 public:
  using CommonFailure::CommonFailure;
};

/// Collective. Checks all state that every rank holds. Returns, on all ranks, what is invalid and on which rank; empty
/// if all state is valid. Copies the state piecewise through host memory, so it is too slow for every step.
std::string unsound_state(comm::RankGroup& group, TrainingState const& state);

}  // namespace bellwether::app
