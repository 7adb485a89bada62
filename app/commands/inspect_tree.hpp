// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>

namespace bellwether::input {
class Hdf5File;
}

/// The parts of inspect() that show an HDF5 file of any program.
namespace bellwether::app {

/// A text of others as it goes to a terminal: characters that would move its cursor or turn the line round, and bytes
/// that are no UTF-8, are written as `\x1b`. Of a long text the beginning, with its length.
std::string plain(std::string const& text);

/// "  name                value"
void print_line(std::ostream& out, std::string const& name, std::string const& value);

/// Groups and data sets with their attributes, one line each, below the root.
/// kind: the root's attribute `format`, or words in its place.
/// \throws InputError, once all is printed, where values of a data set cannot be read; its line says why.
void print_tree(std::ostream& out, input::Hdf5File const& file, std::string const& kind);

/// The last row of a table and how many there are. kind: as above.
void print_last_row(std::ostream& out, input::Hdf5File const& file, std::string const& table, std::string const& kind);

}  // namespace bellwether::app
