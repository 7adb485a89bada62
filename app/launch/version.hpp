// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Version of the program, such as "0.1.0".
std::string program_version();

/// What it was built with: build type, compiler, Kokkos and its devices, on one line. Ranks that differ are refused.
std::string build_options();

}  // namespace bellwether::app
