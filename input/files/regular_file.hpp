// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace bellwether::input {

enum class Pipes { refuse, of_this_process };

/// Returns why a path must not be read as a file; empty if nothing prevents it. Also empty if the path does not exist:
/// opening it then reports that. Opening or reading a pipe or a device may block forever. `Pipes::of_this_process`
/// allows descriptors that this process inherited, /dev/stdin and /dev/fd/3: whoever started it intends them to be
/// read.
std::string fault_of_file(std::string const& path, Pipes pipes = Pipes::refuse);

/// Returns the number of the file descriptor of this process that a path refers to, following links: 0 for
/// `/dev/stdin`, 63 for `/dev/fd/63`. The descriptor need not be open. Returns nothing for every other path.
std::optional<int> descriptor_of(std::string const& path);

/// Returns true if a descriptor is open for reading or writing. One with O_PATH only holds its number.
bool is_open(int descriptor);

/// Removes whatever has the name of a file that is about to be created. Otherwise a link would redirect the write to
/// another file, and a pipe would block. \throws RuntimeError if it cannot be removed.
void make_way_for_file(std::string const& path);

}  // namespace bellwether::input
