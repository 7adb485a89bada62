// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/checksum_trailer.hpp"

#include "app/checkpoint/checksum.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace bellwether::app {
namespace {

constexpr std::string_view label = "\nbellwether xxh3 ";
constexpr std::size_t trailer_bytes = label.size() + 16 + 1;

std::string trailer(std::string const& digest) { return std::string(label) + digest + "\n"; }

}  // namespace

void append_checksum(std::string const& path) {
  FileChecksum sum(path);
  while (sum.advance()) continue;
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << trailer(sum.digest());
  file.close();
  if (!file) throw RuntimeError(path + ": cannot be written: " + std::strerror(errno));
}

std::string checksum_fault(std::string const& path) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status) || input::is_locked_by_another(path)) return "";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  auto const size = static_cast<std::streamoff>(file.tellg());
  auto const before = size - static_cast<std::streamoff>(trailer_bytes);
  if (!file || before < 0) return "";
  std::string recorded(trailer_bytes, '\0');
  file.seekg(before).read(recorded.data(), std::ssize(recorded));
  if (!file || !recorded.starts_with(label)) return "";
  FileChecksum sum(path, before);
  while (sum.advance()) continue;
  if (recorded == trailer(sum.digest())) return "";
  return "damaged: its bytes do not match the checksum at its end";
}

}  // namespace bellwether::app
