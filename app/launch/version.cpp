// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/version.hpp"

namespace bellwether::app {

std::string program_version() { return BELLWETHER_VERSION; }

std::string build_options() { return BELLWETHER_BUILD_OPTIONS; }

}  // namespace bellwether::app
