// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <catch2/catch_session.hpp>

namespace bellwether::test {

/// Returns whether the program only lists its tests. ctest does so for all programs, and MPI and Kokkos need not start.
inline bool only_lists(Catch::Session& session) {
  auto const& asked = session.configData();
  return asked.listTests || asked.listTags || asked.listReporters || asked.listListeners || asked.showHelp ||
         asked.libIdentify;
}

}  // namespace bellwether::test
