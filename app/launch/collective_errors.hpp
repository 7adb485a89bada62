// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bellwether::comm {
class RankGroup;
}

/// How ranks come to the same conclusion about what only some of them saw. All functions are collective.
namespace bellwether::app {

/// An error that every rank has found at the same point: rank 0 tells it, nobody needs to be torn down.
class CommonError : public InputError {
 public:
  using InputError::InputError;
};

/// The same for what the user cannot mend in the input.
class CommonFailure : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// `mine` is empty where all is well. Returns rank 0's text as it is, else that of the lowest rank that has one, with
/// its number in front; empty on all ranks where all is well on all.
std::string first_fault(comm::RankGroup& group, std::string const& mine);

/// Runs `work` here, which calls no collective, and throws on all ranks what it throws on any, as first_fault() has it.
/// \throws CommonError for an InputError, CommonFailure for every other exception.
void together(comm::RankGroup& group, std::function<void()> const& work);

/// Throws on all ranks where any has faults, as together() does. \throws CommonError.
void raise_together(comm::RankGroup& group, std::vector<std::string> const& faults);

/// What rank 0 has.
std::string broadcast_text(comm::RankGroup& group, std::string text, int root = 0);

}  // namespace bellwether::app
