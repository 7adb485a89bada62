// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>

namespace bellwether::input {
class Hdf5File;
}

/// The parts of inspect() that print HDF5 files of any program.
namespace bellwether::app {

/// Returns text from a file in a form that is safe to print on a terminal. Control characters, characters that change
/// the writing direction, and bytes that are not UTF-8 become escapes such as `\x1b`. A long text is cut; its length
/// follows.
std::string plain(std::string const& text);

/// Prints "  name                value".
void print_line(std::ostream& out, std::string const& name, std::string const& value);

/// Prints the groups and data sets below the root with their attributes, one line each.
/// kind: the root's attribute `format`, or a description if it has none.
/// \throws InputError, after printing everything, if values of a data set cannot be read; its line says why.
void print_tree(std::ostream& out, input::Hdf5File const& file, std::string const& kind);

/// Prints the number of rows of a table and its last row. kind: see print_tree().
void print_last_row(std::ostream& out, input::Hdf5File const& file, std::string const& table, std::string const& kind);

}  // namespace bellwether::app
