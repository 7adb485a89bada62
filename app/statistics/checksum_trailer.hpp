// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// A checksum of a whole file in a line after the end of its HDF5 data: "bellwether xxh3 " and 16 hexadecimal digits.
/// HDF5 can crash on a damaged file. The line reveals damage before HDF5 opens the file. HDF5 ignores the line in
/// reading. A program that opens the file for changes removes it, because HDF5 then cuts the file at the end of its
/// data. Such a file is read without a check.
namespace bellwether::app {

/// Appends the line to a closed file. \throws RuntimeError with the file and the system's reason.
void append_checksum(std::string const& path);

/// Returns the reason why the bytes of a file differ from its checksum, without the file's name. Returns an empty text
/// if they agree, and for files without the line, that cannot be opened, or that another program has open for writing.
/// \throws RuntimeError if reading fails.
std::string checksum_fault(std::string const& path);

}  // namespace bellwether::app
