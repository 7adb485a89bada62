// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/installation.hpp"

#include "core/system/error.hpp"

#include <filesystem>

namespace bellwether::app {

std::string shared_file(std::string const& name) {
  namespace fs = std::filesystem;
  std::error_code status;
  auto const folder = fs::read_symlink("/proc/self/exe", status).parent_path();
  std::string looked_at;
  for (auto const* share : {"share/bellwether", BELLWETHER_SHARE_FROM_PROGRAM}) {
    auto const path = (folder / share / name).lexically_normal();
    if (fs::exists(path, status)) return path.string();
    looked_at += (looked_at.empty() ? "" : ", ") + path.string();
  }
  throw RuntimeError("this installation lacks " + name + "; looked for " + looked_at);
}

}  // namespace bellwether::app
