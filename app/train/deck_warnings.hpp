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

/// What a deck says that may be meant but mostly is not, one sentence each, beginning with the key: a freeze before
/// what it keeps has settled (shorter than the memory of the averages, or in the warmup of the rate), or one that never
/// comes, be its step given or the latest of those that the program may choose; sums that are left to the library;
/// products in bf16 on a CPU that has none.
std::vector<std::string> deck_warnings(input::Deck const& deck);

/// The same of a hierarchy that changes nothing: on one node, or of a method that compresses nothing.
std::vector<std::string> node_warnings(input::Deck const& deck, comm::Nodes const& nodes);

}  // namespace bellwether::app
