// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>

namespace bellwether::test {

/// Where data that are not in the tree may be: the folder that BELLWETHER_DATA names, else shared/data beside the tree.
/// Tests skip where what they need is not there.
inline std::filesystem::path shared_data() {
  char const* const named = std::getenv("BELLWETHER_DATA");
  return named != nullptr ? named : BELLWETHER_SHARED_DATA;
}

}  // namespace bellwether::test
