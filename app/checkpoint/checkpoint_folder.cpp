// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_folder.hpp"

#include "app/checkpoint/checksum.hpp"
#include "app/checkpoint/durable_file.hpp"
#include "core/system/error.hpp"
#include "input/files/no_room.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

constexpr auto title = "bellwether checkpoint";
constexpr auto version = "1.0";
constexpr std::string_view prefix = "step_";
constexpr auto temporary_suffix = ".part";
constexpr auto replaced_suffix = ".replaced";
constexpr std::uintmax_t largest_manifest = 1 << 28;  // about 60 bytes per rank for millions of ranks

/// Returns the number in "step_<n>", nothing for other names.
std::optional<std::int64_t> step_in(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int64_t step = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (step < 0 || name != std::to_string(step)) return std::nullopt;
  return step;
}

/// Returns the step of a folder that is being written or replaced.
std::optional<std::int64_t> unfinished_step(std::string_view name) {
  for (std::string_view const suffix : {temporary_suffix, replaced_suffix})
    if (name.ends_with(suffix)) return step_in(name.substr(0, name.size() - suffix.size()));
  return std::nullopt;
}

/// Accepts replicated.h5, and rank<r>.h5 for r below `ranks`. No accepted name leads out of the folder.
bool is_file_of(std::string const& name, int ranks) {
  if (name == "replicated.h5") return true;
  int rank = -1;
  auto const* const end = name.data() + name.size();
  if (!name.starts_with("rank")) return false;
  std::from_chars(name.data() + 4, end, rank);
  return rank >= 0 && rank < ranks && name == "rank" + std::to_string(rank) + ".h5";
}

/// Returns the sorted names in a folder; empty if there is no folder. \throws InputError if it cannot be read;
/// input::NoRoom if too many files are open.
std::vector<std::string> names_in(std::string const& folder) {
  std::vector<std::string> names;
  std::error_code status;
  for (fs::directory_iterator entry(folder, status), end; !status && entry != end; entry.increment(status))
    names.push_back(entry->path().filename().string());
  std::error_code ignored;
  bool const nothing = status == std::errc::no_such_file_or_directory && !fs::is_symlink(folder, ignored);
  if (status && !nothing) input::throw_unreadable(folder + ": cannot be read", status.value());
  std::ranges::sort(names);
  return names;
}

/// Removes the manifest first, so that a partly removed folder never looks complete. Removes only the link if `path` is
/// a link, because its target may belong to others. Returns the error, or an empty text.
std::string remove_folder(std::string const& path) {
  std::error_code status, ignored;
  if (fs::is_directory(fs::symlink_status(path, ignored))) fs::remove(fs::path(path) / "manifest", status);
  if (!status) fs::remove_all(path, status);
  return status ? path + ": cannot be removed: " + status.message() : "";
}

Manifest manifest_in(std::string const& folder, std::int64_t step) {
  std::string const path = (fs::path(folder) / "manifest").string();
  std::error_code status;
  auto const bytes = fs::file_size(path, status);  // fails for a pipe
  if (!status && bytes > largest_manifest)
    throw InputError(path + ": damaged: " + std::to_string(bytes) + " bytes are no manifest");
  if (status && status != std::errc::no_such_file_or_directory) throw InputError(path + ": " + status.message());
  std::ifstream in(path, std::ios::binary);
  if (!in && input::is_lack_of_descriptors(errno)) input::throw_unreadable(path + ": cannot be read", errno);
  if (!in) throw InputError(path + ": missing");
  std::ostringstream text;
  text << in.rdbuf();
  try {
    auto manifest = Manifest::parse(text.str());
    if (manifest.step != step) throw InputError("it records step " + std::to_string(manifest.step));
    return manifest;
  } catch (InputError const& error) {
    throw InputError(path + ": " + error.what());
  }
}

/// Returns true if there is a valid manifest, which is written last.
bool is_complete(std::string const& folder, std::int64_t step) {
  try {
    manifest_in(folder, step);
    return true;
  } catch (InputError const&) {
    return false;
  }
}

std::string size_fault_of(std::string const& path, CheckpointFile const& file) {
  std::error_code status;
  auto const bytes = fs::file_size(path, status);  // fails for a pipe
  if (status) return "missing";
  if (static_cast<std::int64_t>(bytes) != file.bytes)
    return std::to_string(bytes) + " bytes, the manifest says " + std::to_string(file.bytes);
  return "";
}

/// Compares a file with its manifest. Returns the fault, or an empty text.
std::string fault_of(std::string const& path, CheckpointFile const& file) {
  if (auto fault = size_fault_of(path, file); !fault.empty()) return fault;
  FileChecksum sum(path);
  while (sum.advance()) continue;
  return sum.digest() == file.checksum ? "" : "its checksum does not match";
}

}  // namespace

std::string Manifest::text() const {
  std::ostringstream out;
  out << title << ' ' << version << "\nstep " << step << "\nranks " << ranks << '\n';
  for (auto const& file : files) out << "file " << file.name << ' ' << file.bytes << ' ' << file.checksum << '\n';
  return out.str() + "checksum " + checksum_of(out.str()) + '\n';
}

Manifest Manifest::parse(std::string const& text) {
  auto const last = text.rfind("checksum ");
  if (last == std::string::npos) throw InputError("incomplete: the closing checksum is missing");
  std::istringstream in(text);
  std::string first, word, found;
  std::getline(in, first);
  if (!first.starts_with(title)) throw InputError("not a manifest of a checkpoint");
  found = first.substr(std::string(title).size());
  if (!found.starts_with(" 1."))
    throw InputError("written in format" + found + ", which this program does not read; it reads 1");
  if (text.substr(last) != "checksum " + checksum_of(text.substr(0, last)) + '\n')
    throw InputError("damaged: its checksum does not match");
  Manifest manifest;
  std::set<std::string> named;
  while (in >> word && word != "checksum") {
    if (word == "step") in >> manifest.step;
    if (word == "ranks") in >> manifest.ranks;
    if (word == "file") {
      CheckpointFile file;
      in >> file.name >> file.bytes >> file.checksum;
      if (in && (!is_file_of(file.name, manifest.ranks) || file.bytes < 0))
        throw InputError("damaged: it names the file '" + file.name + "' of " + std::to_string(file.bytes) + " bytes");
      if (!named.insert(file.name).second) throw InputError("damaged: it names the file '" + file.name + "' twice");
      manifest.files.push_back(std::move(file));
    }
  }
  if (!in || manifest.ranks < 1 || manifest.files.empty()) throw InputError("damaged: it names no files");
  if (!named.contains("replicated.h5")) throw InputError("damaged: it does not name the file 'replicated.h5'");
  return manifest;
}

CheckpointFolder::CheckpointFolder(std::string run_directory)
    : directory_((fs::path(std::move(run_directory)) / "checkpoints").string()) {}

std::string CheckpointFolder::complete_path(std::int64_t step) const {
  return (fs::path(directory_) / (std::string(prefix) + std::to_string(step))).string();
}

std::string CheckpointFolder::temporary_path(std::int64_t step) const { return complete_path(step) + temporary_suffix; }

void CheckpointFolder::prepare(std::int64_t step) const {
  std::string const path = temporary_path(step);
  std::error_code status;
  fs::remove_all(path, status);
  if (!status) fs::create_directories(path, status);
  if (status) throw RuntimeError(path + ": cannot be made: " + status.message());
}

void CheckpointFolder::complete(Manifest const& manifest) const {
  std::string const from = temporary_path(manifest.step), to = complete_path(manifest.step);
  std::string const path = (fs::path(from) / "manifest").string();
  {
    std::ofstream out(path, std::ios::binary);
    out << manifest.text();
    out.close();
    if (!out) throw RuntimeError(path + ": cannot be written: " + std::strerror(errno));
  }
  sync_path(path);
  sync_path(from);
  // A folder of this name is a damaged checkpoint that was skipped, or one of a run that restarted from an earlier
  // step. It may also be a dangling or circular link.
  std::error_code status;
  std::string const old = to + replaced_suffix;
  if (fs::exists(fs::symlink_status(to, status))) {
    fs::remove_all(old, status);
    fs::rename(to, old, status);
  } else if (status == std::errc::no_such_file_or_directory) {
    status.clear();
  }
  if (!status) {
    fs::rename(from, to, status);
    std::error_code ignored;
    if (status) fs::rename(old, to, ignored);  // keep the old one
  }
  if (status) throw RuntimeError(to + ": cannot be renamed to its final name: " + status.message());
  sync_path(directory_);
  remove_folder(old);
}

std::string CheckpointFolder::discard(std::int64_t step) const { return remove_folder(temporary_path(step)); }

std::vector<std::string> CheckpointFolder::recover() const {
  std::vector<std::string> told;
  std::set<std::int64_t> steps;
  for (auto const& name : names_in(directory_))
    if (auto const step = unfinished_step(name)) steps.insert(*step);
  auto const there = [](std::string const& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
  };
  for (auto const step : steps) {
    std::string const part = temporary_path(step), to = complete_path(step), old = to + replaced_suffix;
    if (!there(to)) {
      std::error_code status;
      if (is_complete(part, step))
        fs::rename(part, to, status);
      else if (there(old))
        fs::rename(old, to, status);
      if (status) told.push_back(to + ": cannot be renamed to its final name: " + status.message());
    }
    if (there(part)) {
      auto const fault = remove_folder(part);
      told.push_back(part + ": incomplete" + (fault.empty() ? "; removed" : ", but " + fault));
    }
    if (there(to) && there(old))
      if (auto fault = remove_folder(old); !fault.empty()) told.push_back(std::move(fault));
  }
  return told;
}

std::vector<std::string> CheckpointFolder::prune(std::int64_t newest, std::int64_t keep,
                                                 std::set<std::int64_t> const& damaged) const {
  std::vector<std::string> faults;
  auto const remove = [&](std::string const& path) {
    if (auto fault = remove_folder(path); !fault.empty()) faults.push_back(std::move(fault));
  };
  for (auto const& name : names_in(directory_))
    if (auto const step = unfinished_step(name); step && *step <= newest)
      remove((fs::path(directory_) / name).string());
  std::int64_t complete = 0;
  for (auto const step : steps()) {
    if (keep == 0 || step > newest) continue;
    if (damaged.contains(step) || !has_manifest(step)) continue;  // kept for the user to inspect
    if (++complete > keep) remove(complete_path(step));
  }
  return faults;
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> found;
  for (auto const& name : names_in(directory_))
    if (auto const step = step_in(name)) found.push_back(*step);
  std::ranges::sort(found, std::greater());
  return found;
}

std::vector<std::string> CheckpointFolder::unfinished() const {
  std::vector<std::string> found;
  for (auto const& name : names_in(directory_))
    if (name.ends_with(temporary_suffix) || name.ends_with(replaced_suffix))
      found.push_back((fs::path(directory_) / name).string());
  return found;
}

bool CheckpointFolder::has_manifest(std::int64_t step) const { return is_complete(complete_path(step), step); }

Manifest CheckpointFolder::read_manifest(std::int64_t step) const { return manifest_in(complete_path(step), step); }

std::string CheckpointFolder::size_fault_in(std::int64_t step, CheckpointFile const& file) const {
  auto const fault = size_fault_of((fs::path(complete_path(step)) / file.name).string(), file);
  return fault.empty() ? "" : file.name + ": " + fault;
}

std::string CheckpointFolder::lock_on(std::int64_t step, CheckpointFile const& file) const {
  std::string const path = (fs::path(complete_path(step)) / file.name).string();
  return input::is_locked_by_another(path) ? path + ": " + input::why_unopened(path, "") : "";
}

std::string CheckpointFolder::fault_in(std::int64_t step, CheckpointFile const& file) const {
  std::string const path = (fs::path(complete_path(step)) / file.name).string();
  auto const fault = fault_of(path, file);
  return fault.empty() ? "" : path + ": " + fault;
}

bool is_of_checkpoint(std::string const& path) {
  std::error_code status;
  auto const folder = fs::weakly_canonical(path, status).parent_path();
  return !status && step_in(folder.filename().string()) && fs::exists(folder / "manifest", status);
}

std::string recorded_fault(std::string const& path) {
  std::error_code status;
  auto const whole = fs::weakly_canonical(path, status), folder = whole.parent_path();
  auto const step = step_in(folder.filename().string());
  if (status || !step || !fs::exists(folder / "manifest", status)) return "";
  auto const manifest = manifest_in(folder.string(), *step);
  auto const file = std::ranges::find(manifest.files, whole.filename().string(), &CheckpointFile::name);
  auto const fault = file == manifest.files.end() ? "" : fault_of(path, *file);
  return fault.empty() ? "" : path + ": damaged: " + fault;
}

}  // namespace bellwether::app
