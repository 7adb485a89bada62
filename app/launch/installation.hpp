// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// A file that comes with the program, found from where the program lies: beside it in a build folder, in the prefix's
/// share/ after an installation. \throws RuntimeError naming the places looked at.
std::string shared_file(std::string const& name);

}  // namespace bellwether::app
