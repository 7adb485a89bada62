// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/regular_file.hpp"

#include "core/error.hpp"

#include <filesystem>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

/// Whether links lead from a path to a descriptor of this process.
bool is_descriptor(fs::path path) {
  std::error_code status;
  auto const descriptors = fs::canonical("/proc/self/fd", status);
  if (status) return false;
  constexpr int most_links = 40;  // as many as Linux follows
  for (int link = 0; link < most_links; ++link) {
    path = fs::absolute(path, status);
    if (!status && fs::canonical(path.parent_path(), status) == descriptors && !status) return true;
    if (status || !fs::is_symlink(path, status)) return false;
    path = path.parent_path() / fs::read_symlink(path, status);
    if (status) return false;
  }
  return false;
}

}  // namespace

std::string fault_of_file(std::string const& path, Pipes pipes) {
  std::error_code status;
  auto const type = fs::status(path, status).type();
  if (type == fs::file_type::directory) return "is a folder";
  if (type == fs::file_type::regular || type == fs::file_type::none || type == fs::file_type::not_found ||
      type == fs::file_type::unknown)
    return "";
  if (pipes == Pipes::of_this_process && is_descriptor(path)) return "";
  return "is a pipe, a device or a socket; allowed: a file";
}

void make_way_for_file(std::string const& path) {
  std::error_code status;
  fs::remove(path, status);
  if (status && fs::symlink_status(path).type() != fs::file_type::not_found)
    throw RuntimeError(path + ": is in the way of a file and cannot be removed: " + status.message());
}

}  // namespace bellwether::input
