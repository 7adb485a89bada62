// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/hdf5/hdf5_file.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// Assembles rows of an array from the files of several ranks. All functions throw InputError with file and data set if
/// a file is not valid.
namespace bellwether::app {

std::int64_t integer_attribute(input::Hdf5File const& file, std::string const& path, char const* name);

/// why: end of the message, "allowed: 3, as in the manifest".
void require_attribute(input::Hdf5File const& file, char const* name, std::int64_t wanted, char const* why);

void require_shape(input::Hdf5File const& file, std::string const& path, std::vector<std::int64_t> const& wanted);

/// The rows [first, last) of an array of `total` rows that a file holds.
struct HeldRows {
  std::int64_t first, last, total;
  bool operator==(HeldRows const&) const = default;
};
HeldRows held_rows(input::Hdf5File const& file, std::string const& path);

/// Opens the file of a rank.
using OpenRank = std::function<input::Hdf5File(int)>;

/// The files of all ranks of a checkpoint.
struct RankFiles {
  OpenRank open;  ///< opens the file of a rank
  int ranks;      ///< number of files
  int try_first;  ///< rank whose file is read first
};

/// Reads elements [first, first + size) of a vector of `total` elements from the disjoint slices of ranks 0, 1, ...
void gather_slices(RankFiles const& files, std::string const& path, std::span<float> values, std::int64_t first,
                   std::int64_t total);

/// Computes, in double precision, the mean over the ranks that hold a row. shape: of the whole array. values: rows from
/// `first` on.
void mean_of_held_rows(OpenRank const& open, int ranks, std::string const& path, std::vector<std::int64_t> const& shape,
                       std::int64_t first, std::span<float> values);

}  // namespace bellwether::app
