// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/hdf5/hdf5_file.hpp"

#include <string>

/// Statistics that are damaged, with advice: `bellwether train --resume` creates statistics.h5 again from its segments.
/// Call all functions on the I/O thread.
namespace bellwether::app {

/// Returns the path, what is damaged, and what to do, if a statistics.h5 or a segment differs from the checksum at its
/// end. Returns an empty text if it agrees, or if the file has none. Call it before HDF5 opens the file.
std::string statistics_fault(std::string const& path);

/// Opens an HDF5 file for reading. \throws InputError as Hdf5File::open(). If the file is a statistics.h5 beside its
/// segments, or a segment, and no other program has it open for writing, the error ends in what to do. Refuses
/// statistics of a later format.
input::Hdf5File open_statistics(std::string const& path);

}  // namespace bellwether::app
