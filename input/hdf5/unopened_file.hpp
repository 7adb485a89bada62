// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::input {

/// Whether another program holds a lock on a file that keeps this one from reading it, as HDF5 does while it writes. No
/// where HDF5_USE_FILE_LOCKING=FALSE says that locks do not count.
bool is_locked_by_another(std::string const& path);

/// Why HDF5 could not open a file for reading, and what to do: no rights, nothing in it, a lock and who holds it, a
/// file that is cut short or was not closed, no HDF5 at all. `reason`: the library's own words, said where nothing is
/// found.
std::string why_unopened(std::string const& path, std::string const& reason);

}  // namespace bellwether::input
