// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/shard_files.hpp"

#include "core/system/error.hpp"
#include "input/files/no_room.hpp"
#include "input/files/regular_file.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace bellwether::input {

namespace fs = std::filesystem;

std::optional<FileIdentity> identity_of(std::string const& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino)};
}

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool has_shard_name(fs::path const& path) {
  auto const extension = in_small_letters(path.extension().string());
  return extension == ".h5" || extension == ".hdf5";
}

std::vector<std::string> shards_at(std::string const& entry) {
  std::error_code status;
  if (!fs::is_directory(entry, status)) return {entry};
  std::vector<std::string> files;
  try {
    for (auto const& file : fs::directory_iterator(entry))
      if (has_shard_name(file.path())) files.push_back(file.path().string());
  } catch (fs::filesystem_error const& error) {
    if (is_lack_of_descriptors(error.code().value()))
      throw_unreadable(entry + ": cannot be read", error.code().value());
    throw;
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> find_shards(std::vector<std::string> const& paths) {
  std::vector<std::string> files, faults;
  for (auto const& path : paths) {
    std::error_code status;
    bool const folder = fs::is_directory(path, status);
    if (!folder && !fs::is_regular_file(path, status)) {
      auto const fault = fault_of_file(path);
      faults.push_back(path + ": " + (fault.empty() ? "no such file or folder" : fault));
      continue;
    }
    try {
      auto const found = shards_at(path);
      if (found.empty()) faults.push_back(path + ": no .h5 or .hdf5 files in this folder");
      files.insert(files.end(), found.begin(), found.end());
    } catch (fs::filesystem_error const& error) {
      faults.push_back(path + ": cannot be read: " + error.code().message());
    }
  }
  if (!faults.empty()) throw InputError(faults);
  return files;
}

}  // namespace bellwether::input
