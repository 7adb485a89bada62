// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

/// Returns a warning if the threads of the ranks on this host outnumber its cores; otherwise an empty text.
std::string core_warning(comm::World const& world);

}  // namespace bellwether::app
