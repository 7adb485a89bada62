// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_shards.hpp"

#include "input/deck/shard_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

/// A file that a list refers to: the path to open, and the entry it comes from.
struct Reached {
  std::string path, entry;
};

/// Returns the files of an entry; none if its folder cannot be read, which entry_fault() reports.
std::vector<std::string> files_of(std::string const& entry) {
  try {
    return shards_at(entry);
  } catch (fs::filesystem_error const&) {
    return {};
  }
}

/// Returns what is wrong with one entry; empty if nothing is.
std::string entry_fault(std::string const& entry) {
  std::error_code error;
  auto const status = fs::status(entry, error);
  if (!fs::exists(status)) return " does not exist; allowed: HDF5 files or folders of them";
  if (!fs::is_directory(status))
    return fs::is_regular_file(status) ? "" : " is neither file nor folder; allowed: HDF5 files or folders of them";
  std::string reason;
  try {
    if (!shards_at(entry).empty()) return "";
  } catch (fs::filesystem_error const& thrown) {
    reason = " cannot be read (" + thrown.code().message() + ")";
  }
  return (reason.empty() ? " has no shards" : reason) +
         "; allowed: a folder with .h5 or .hdf5 files, as `bellwether prepare` writes it";
}

/// Reports that two paths refer to the same file.
std::string twice(Reached const& first, Reached const& second) {
  if (first.path == second.path)
    return second.path + " is listed twice, by " + first.entry + " and by " + second.entry + "; list each shard once";
  return second.path + " is the same file as " + first.path + "; list each shard once";
}

}  // namespace

void check_shards(std::string const& key, std::vector<std::string> const& entries, Complain const& complain) {
  std::set<std::string> seen;
  std::map<FileIdentity, std::string> folders;
  std::map<FileIdentity, Reached> files;
  for (auto const& entry : entries) {
    if (!seen.insert(entry).second) {
      complain(key, entry + " is listed twice; list each shard once");
      continue;
    }
    if (auto const fault = entry_fault(entry); !fault.empty()) {
      complain(key, entry + fault);
      continue;
    }
    std::error_code status;
    if (auto const identity = identity_of(entry); identity && fs::is_directory(entry, status)) {
      auto const [first, added] = folders.emplace(*identity, entry);
      if (!added) {
        complain(key, entry + " is the same folder as " + first->second + "; list each folder once");
        continue;
      }
    }
    // One report per folder is enough, even if it is full of links.
    for (auto const& file : files_of(entry)) {
      auto const identity = identity_of(file);
      if (!identity) continue;  // opening the file reports the reason
      Reached const reached{file, entry};
      auto const [first, added] = files.emplace(*identity, reached);
      if (added) continue;
      complain(key, twice(first->second, reached));
      break;
    }
  }
}

void check_apart(DataConfig const& data, Complain const& complain) {
  std::map<FileIdentity, std::string> trained;  // identity of the file, and its entry of data.train
  for (auto const& entry : data.train)
    for (auto const& file : files_of(entry))
      if (auto const identity = identity_of(file)) trained.emplace(*identity, entry);
  for (auto const& entry : data.heldout) {
    if (std::find(data.train.begin(), data.train.end(), entry) != data.train.end()) {
      complain("data.heldout", entry + " is trained on, too; list shards that data.train does not name");
      continue;
    }
    for (auto const& file : files_of(entry)) {
      auto const identity = identity_of(file);
      auto const found = identity ? trained.find(*identity) : trained.end();
      if (found == trained.end()) continue;
      complain("data.heldout", file + " is trained on, too, by data.train: " + found->second +
                                   "; list shards that data.train does not contain");
      break;
    }
  }
}

void check_run_apart(std::string const& directory, std::string const& key, std::vector<std::string> const& entries,
                     Complain const& complain) {
  std::error_code status;
  std::map<FileIdentity, std::string> folders;  // of shards
  for (auto const& entry : entries)
    if (auto const identity = identity_of(entry); identity && fs::is_directory(entry, status))
      folders.emplace(*identity, entry);
  for (std::string const written : {"", "checkpoints", "statistics"}) {
    auto const path = written.empty() ? directory : (fs::path(directory) / written).string();
    auto const identity = identity_of(path);
    auto const found = identity ? folders.find(*identity) : folders.end();
    if (found == folders.end()) continue;
    auto const other_name = found->second == path ? "" : ", " + found->second;
    complain("run.directory", path + " is a folder of shards of " + key + other_name +
                                  ", and a run writes HDF5 files there; name another folder, which need not exist yet");
    return;
  }
}

}  // namespace bellwether::input
