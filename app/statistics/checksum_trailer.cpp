// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/checksum_trailer.hpp"

#include "app/checkpoint/checksum.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

namespace bellwether::app {
namespace {

constexpr std::string_view label = "\nbellwether xxh3 ";
constexpr std::size_t trailer_bytes = label.size() + 16 + 1;
constexpr std::size_t portion_bytes = std::size_t{1} << 20;

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
  auto left = size - static_cast<std::streamoff>(trailer_bytes);
  if (!file || left < 0) return "";
  std::string recorded(trailer_bytes, '\0');
  file.seekg(left).read(recorded.data(), std::ssize(recorded));
  if (!file || !recorded.starts_with(label)) return "";
  file.seekg(0);
  Checksum sum;
  std::string portion(portion_bytes, '\0');
  for (std::streamoff count = 0; left > 0 && file; left -= count) {
    count = std::min<std::streamoff>(left, std::ssize(portion));
    file.read(portion.data(), count);
    sum.add(std::as_bytes(std::span(portion).first(static_cast<std::size_t>(count))));
  }
  if (!file || recorded == trailer(sum.digest())) return "";
  return "damaged: its bytes do not match the checksum at its end";
}

}  // namespace bellwether::app
