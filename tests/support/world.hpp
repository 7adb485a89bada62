// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether::comm {
class World;
}

namespace bellwether::test {

/// Returns the world of a program made by bellwether_mpi_test().
comm::World& world();

}  // namespace bellwether::test
