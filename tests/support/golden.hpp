// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

namespace bellwether::test {

/// Returns the path of a file of tests/golden. The folder is the environment's, for tests that were copied to another
/// machine, or else that of the build.
inline std::string golden_file(std::string const& name) {
  char const* const carried = std::getenv("BELLWETHER_GOLDEN");
  return std::string(carried != nullptr ? carried : BELLWETHER_GOLDEN) + "/" + name;
}

}  // namespace bellwether::test
