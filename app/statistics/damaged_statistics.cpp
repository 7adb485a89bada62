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

}  // namespace

std::string statistics_fault(std::string const& path) {
  auto const fault = checksum_fault(path);
  if (fault.empty()) return "";
  return path + ": " + fault + (is_segment(path) ? restore_segment : remove_shown);
}

input::Hdf5File open_statistics(std::string const& path) {
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

}  // namespace bellwether::app
