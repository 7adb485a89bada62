// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bellwether::comm {
struct Nodes;
}
namespace bellwether::input {
struct Deck;
}

namespace bellwether::app {

/// Returns warnings about settings that are allowed but probably unintended, one sentence each, beginning with the key.
/// They concern a freeze before the frozen averages have settled (earlier than their memory, or during warmup).
/// They concern a freeze that never happens, whether its step is given or is the latest that the program may choose.
/// They concern a run directory with a pattern of a batch system, such as `run_%j`, which nothing expands.
/// They also concern a learning rate of 0 at every step, sums formed by the MPI library, and bf16 products on a CPU
/// without bf16 instructions.
std::vector<std::string> deck_warnings(input::Deck const& deck);

/// Returns warnings about a hierarchy without effect: on one node, or with a method that does not compress.
std::vector<std::string> node_warnings(input::Deck const& deck, comm::Nodes const& nodes);

}  // namespace bellwether::app
