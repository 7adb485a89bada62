// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

namespace bellwether::test {

/// A file of tests/golden: in the folder that the environment names, where tests were carried to another machine, else
/// where they were built.
inline std::string golden_file(std::string const& name) {
  char const* const carried = std::getenv("BELLWETHER_GOLDEN");
  return std::string(carried != nullptr ? carried : BELLWETHER_GOLDEN) + "/" + name;
}

}  // namespace bellwether::test
