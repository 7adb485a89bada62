// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/hdf5/hdf5_file.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// What the files of ranks hold of an array, put together for a rank that wants other rows. Everything here throws
/// InputError that names file and data set where a file is not as it has to be.
namespace bellwether::app {

std::int64_t integer_attribute(input::Hdf5File const& file, std::string const& path, char const* name);

/// why: ends the message, as in "allowed: 3, as in the manifest".
void require_attribute(input::Hdf5File const& file, char const* name, std::int64_t wanted, char const* why);

void require_shape(input::Hdf5File const& file, std::string const& path, std::vector<std::int64_t> const& wanted);

/// Rows [first, last) of `total` that a file holds of an array.
struct HeldRows {
  std::int64_t first, last, total;
  bool operator==(HeldRows const&) const = default;
};
HeldRows held_rows(input::Hdf5File const& file, std::string const& path);

/// Opens the file of a rank.
using OpenRank = std::function<input::Hdf5File(int)>;

/// Elements [first, first + size) of a vector of `total` that ranks 0, 1, ... hold in slices without overlap.
void gather_slices(OpenRank const& open, int ranks, int try_first, std::string const& path, std::span<float> values,
                   std::int64_t first, std::int64_t total);

/// The mean, formed in double, over the ranks that hold a row, for rows from `first` on of an array of this shape.
void mean_of_held_rows(OpenRank const& open, int ranks, std::string const& path, std::vector<std::int64_t> const& shape,
                       std::int64_t first, std::span<float> values);

}  // namespace bellwether::app
