// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::input {

/// Returns true if another program holds a lock that prevents reading the file, as HDF5 does while it writes. Returns
/// false if HDF5_USE_FILE_LOCKING=FALSE disables locks.
bool is_locked_by_another(std::string const& path);

/// Returns true if HDF5's message means that a file is damaged, or that its writer did not finish.
bool means_damage(std::string const& reason);

/// Follows such a message.
inline constexpr char const* damage_advice =
    "; the file is incomplete or damaged: its writer has probably not finished. Make it or copy it again; if it "
    "belongs to a checkpoint, resume from the one before";

/// What why_unopened() says of a file of any other format.
inline constexpr char const* not_hdf5 = "is not an HDF5 file";

/// Explains why HDF5 could not open a file for reading, and what to do. It recognises missing permission, an empty
/// file, a lock and its holder, a truncated, damaged or unclosed file, and other formats. For compressed files and
/// archives it names the command that unpacks them. `reason`: the library's own message, used if nothing else is found.
std::string why_unopened(std::string const& path, std::string const& reason);

}  // namespace bellwether::input
