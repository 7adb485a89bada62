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

/// Functions that make all ranks agree on an error that only some of them found. All are collective.
namespace bellwether::app {

/// An error that every rank throws at the same point. Rank 0 prints it, and all ranks can end normally.
class CommonError : public InputError {
 public:
  using InputError::InputError;
};

/// The same for errors that the user cannot correct in the input.
class CommonFailure : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// mine: this rank's error, or an empty text. Returns on all ranks rank 0's error unchanged, or else that of the lowest
/// rank that has one, with "rank <r>: " in front. Empty if no rank has an error.
std::string first_fault(comm::RankGroup& group, std::string const& mine);

/// Runs `work` on every rank; it must not call collectives. If it throws on any rank, throws on all ranks, with the
/// text of first_fault().
/// \throws CommonError for an InputError, CommonFailure for every other exception.
void together(comm::RankGroup& group, std::function<void()> const& work);

/// Throws on all ranks if any rank has faults, as together() does. \throws CommonError.
void raise_together(comm::RankGroup& group, std::vector<std::string> const& faults);

/// Returns work(). It must throw the same InputErrors on every rank; they become CommonErrors.
template <class Work>
auto found_by_all(Work const& work) {
  try {
    return work();
  } catch (InputError const& error) {
    throw CommonError(error.faults());
  }
}

/// Returns the root's text on every rank.
std::string broadcast_text(comm::RankGroup& group, std::string text, int root = 0);

}  // namespace bellwether::app
