// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Returns the version of the program, e.g. "0.1.0".
std::string program_version();

/// Returns build type, compiler, Kokkos and its devices on one line. They must be equal on all ranks.
std::string build_options();

}  // namespace bellwether::app
