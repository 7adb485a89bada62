// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Returns the path of a file that is distributed with the program. It lies beside the executable in a build folder, or
/// in the prefix's share/ when installed. \throws RuntimeError naming the places searched.
std::string shared_file(std::string const& name);

}  // namespace bellwether::app
