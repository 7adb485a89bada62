// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>

namespace bellwether::test {

/// Returns the folder of data that are not in the repository: BELLWETHER_DATA, or shared/data beside the repository.
/// Tests that do not find their data there are skipped.
inline std::filesystem::path shared_data() {
  char const* const named = std::getenv("BELLWETHER_DATA");
  return named != nullptr ? named : BELLWETHER_SHARED_DATA;
}

}  // namespace bellwether::test
