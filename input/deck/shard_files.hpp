// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Finds the files that the entries of data.train and data.heldout refer to.
namespace bellwether::input {

/// Identifies a file or folder independently of its name: links, hard links and bind mounts have the same identity.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  auto operator<=>(FileIdentity const&) const = default;
};
/// Returns the identity of `path`, following links. Returns nothing if the system reports none, for example if the path
/// does not exist.
std::optional<FileIdentity> identity_of(std::string const& path);

/// Converts ASCII letters to lower case.
std::string in_small_letters(std::string text);

/// Returns true if a name ends in .h5 or .hdf5, in upper or lower case.
bool has_shard_name(std::filesystem::path const& path);

/// Returns the files that `entry` refers to. That is the file itself, or all shards of a folder, sorted.
/// \throws std::filesystem::filesystem_error if a folder cannot be read.
std::vector<std::string> shards_at(std::string const& entry);

/// Returns the files among `paths`, and those that shards_at() finds in the folders among them.
/// \throws InputError if a path does not exist or a folder holds no shards.
std::vector<std::string> find_shards(std::vector<std::string> const& paths);

}  // namespace bellwether::input
