// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::comm {
class Communicator;
}

/// How ranks come to the same conclusion about what only some of them saw. All functions are collective.
namespace bellwether::app {

/// `mine` is empty where all is well. Returns the text of the lowest rank that has one, with its rank in front where
/// there are several ranks; empty on all ranks where all is well on all.
std::string first_fault(comm::Communicator& communicator, std::string const& mine);

/// What rank 0 has.
std::string broadcast_text(comm::Communicator& communicator, std::string text, int root = 0);

}  // namespace bellwether::app
