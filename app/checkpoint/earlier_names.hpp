// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Names in files of earlier versions, which readers of today accept.
namespace bellwether::app {

/// Returns the name that version 0.1.0 gave to a column, a data set or an entry of the state; empty if it is the same.
constexpr std::string_view earlier_name(std::string_view name) {
  if (name == "intra_node_bytes") return "inside_node_bytes";
  if (name == "active") return "live";
  if (name == "mean_residual") return "held_back";
  if (name == "sketch_proportion") return "fold_proportion";
  return {};
}

/// Returns earlier_name() of the last part of a path, with the groups before it.
inline std::string earlier_path(std::string const& path) {
  auto const begin = path.rfind('/') + 1;  // 0 if there is no group
  auto const name = earlier_name(std::string_view(path).substr(begin));
  return name.empty() ? "" : path.substr(0, begin) + std::string(name);
}

}  // namespace bellwether::app
