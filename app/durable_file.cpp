// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/durable_file.hpp"

#include "core/error.hpp"
#include "input/regular_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace bellwether::app {
namespace {

std::string reason(int error) { return std::strerror(error); }

}  // namespace

void sync_path(std::string const& path) {
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw RuntimeError(path + ": cannot be opened: " + reason(errno));
  int const status = ::fsync(file);
  int const error = errno;
  ::close(file);
  // Some network file systems cannot synchronise folders and say so with EINVAL; there is nothing more to do there.
  if (status != 0 && error != EINVAL) throw RuntimeError(path + ": cannot be written to the device: " + reason(error));
}

void replace_file(std::string const& temporary, std::string const& path) {
  sync_path(temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    throw RuntimeError(path + ": cannot be replaced: " + reason(errno));
  auto const folder = std::filesystem::path(path).parent_path();
  sync_path(folder.empty() ? "." : folder.string());
}

void write_text_file(std::string const& path, std::string_view text) {
  std::string const temporary = path + ".part";
  input::make_way_for_file(temporary);
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw RuntimeError(temporary + ": cannot be written: " + reason(errno));
  replace_file(temporary, path);
}

}  // namespace bellwether::app
