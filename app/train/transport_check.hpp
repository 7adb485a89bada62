// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

/// Collective. Computes the mean of one vector over the ranks with every available transport in turn. Compares all
/// results bit for bit, on all ranks. Returns a clause for the report: "mpi, mpi_staged: equal in all bits of a mean of
/// 1048576 numbers".
/// \throws CommonFailure that names the transports that differ.
std::string compare_transports(comm::World& world);

}  // namespace bellwether::app
