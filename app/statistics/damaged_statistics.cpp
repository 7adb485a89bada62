// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/damaged_statistics.hpp"

#include "app/statistics/checksum_trailer.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <unistd.h>

#include <filesystem>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

constexpr auto restore_segment = "; restore it from a copy";
constexpr auto remove_shown =
    "; remove it, and `bellwether train --resume` creates it again from the folder statistics beside it";

bool is_segment(fs::path const& path) { return path.filename().string().starts_with("segment_"); }

/// Returns what to do about a file of a run that HDF5 cannot open; empty for other files.
std::string advice(fs::path const& path) {
  std::error_code status;
  auto const beside = path.parent_path();
  if (is_segment(path) && beside.filename() == "statistics") return restore_segment;
  bool const shown = path.filename() == "statistics.h5" && fs::exists(beside / "statistics/segment_000000.h5", status);
  return shown ? remove_shown : "";
}

/// Returns a text attribute of the file; empty if there is none or it has another type.
std::string text_of(input::Hdf5File const& file, char const* name) try {
  auto const value = file.attribute("/", name);
  auto const* const text = value ? std::get_if<std::string>(&*value) : nullptr;
  return text != nullptr ? *text : "";
} catch (InputError const&) {
  return "";
}

/// \throws InputError if statistics have a format of another version of the program.
void require_known_version(std::string const& path, input::Hdf5File const& file) {
  if (text_of(file, "format") != "bellwether statistics") return;
  if (auto const version = text_of(file, "format_version"); !version.empty() && !version.starts_with("1."))
    throw InputError(path + ": format_version is '" + version +
                     "'; allowed: a text that begins with 1.; read it with the version of the program that wrote it");
}

input::Hdf5File opened(std::string const& path) {
  try {
    return input::Hdf5File::open(path);
  } catch (InputError const& error) {
    std::error_code status;
    auto const advised = fs::is_regular_file(path, status) ? advice(fs::absolute(path, status)) : "";
    // A file that is locked, or that this user may not read, may be sound.
    if (advised.empty() || ::access(path.c_str(), R_OK) != 0 || input::is_locked_by_another(path)) throw;
    throw InputError(error.what() + advised);
  }
}

}  // namespace

std::string statistics_fault(std::string const& path) {
  auto const fault = checksum_fault(path);
  if (fault.empty()) return "";
  return path + ": " + fault + (is_segment(path) ? restore_segment : remove_shown);
}

input::Hdf5File open_statistics(std::string const& path) {
  auto file = opened(path);
  require_known_version(path, file);
  return file;
}

}  // namespace bellwether::app
