// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/regular_file.hpp"

#include "core/system/error.hpp"

#include <fcntl.h>

#include <charconv>
#include <filesystem>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::optional<int> descriptor_of(std::string const& written) {
  std::error_code status;
  auto const descriptors = fs::canonical("/proc/self/fd", status);
  if (status) return std::nullopt;
  constexpr int most_links = 40;  // the limit of Linux
  fs::path path = written;
  for (int link = 0; link < most_links; ++link) {
    path = fs::absolute(path, status);
    if (!status && fs::canonical(path.parent_path(), status) == descriptors && !status) {
      auto const name = path.filename().string();
      int number = 0;
      auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
    }
    if (status || !fs::is_symlink(path, status)) return std::nullopt;
    path = path.parent_path() / fs::read_symlink(path, status);
    if (status) return std::nullopt;
  }
  return std::nullopt;
}

bool is_open(int descriptor) {
  int const flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_PATH) == 0;
}

std::string fault_of_file(std::string const& path, Pipes pipes) {
  std::error_code status;
  auto const type = fs::status(path, status).type();
  if (type == fs::file_type::directory) return "is a folder";
  if (type == fs::file_type::regular) return "";
  auto const number = descriptor_of(path);
  if (number && !is_open(*number))
    return "is not open here: launchers pass on only standard input, and only to rank 0; allowed: a file";
  if (type == fs::file_type::none || type == fs::file_type::not_found || type == fs::file_type::unknown) return "";
  if (pipes == Pipes::of_this_process && number) return "";
  return "is a pipe, a device or a socket; allowed: a file";
}

void make_way_for_file(std::string const& path) {
  std::error_code status;
  fs::remove(path, status);
  if (status && fs::symlink_status(path).type() != fs::file_type::not_found)
    throw RuntimeError(path + ": exists already and cannot be removed to write a file: " + status.message());
}

}  // namespace bellwether::input
