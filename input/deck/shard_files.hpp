// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Which files the entries of data.train and data.heldout stand for.
namespace bellwether::input {

/// A file or folder itself, whatever name leads to it: links, hard links and bind mounts share one.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  auto operator<=>(FileIdentity const&) const = default;
};
/// Follows links. Nothing where the system does not tell, as of a path that leads nowhere.
std::optional<FileIdentity> identity_of(std::string const& path);

/// Letters of ASCII made small.
std::string in_small_letters(std::string text);

/// Whether a name ends as those of shards do, in .h5 or .hdf5, in letters of either case.
bool has_shard_name(std::filesystem::path const& path);

/// The files that `entry` stands for: itself, or of a folder those with a shard's name, sorted.
/// \throws std::filesystem::filesystem_error where a folder cannot be read.
std::vector<std::string> shards_at(std::string const& entry);

/// Files of `paths` and the .h5 and .hdf5 files of folders among them, the latter sorted by name.
/// \throws InputError where one is missing or a folder holds none.
std::vector<std::string> find_shards(std::vector<std::string> const& paths);

}  // namespace bellwether::input
