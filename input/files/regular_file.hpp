// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace bellwether::input {

enum class Pipes { refuse, of_this_process };

/// What keeps a path from being read as a file, in words; empty where nothing does, and where nothing is there: opening
/// it says so. Of a pipe or a device an open or a read may never come back. Those that this process was given already
/// open, /dev/stdin and /dev/fd/3, can be allowed: whoever started it wants them read.
std::string fault_of_file(std::string const& path, Pipes pipes = Pipes::refuse);

/// The number of the descriptor of this process that a path leads to, over links or not: 0 for `/dev/stdin`, 63 for
/// `/dev/fd/63`, whether it is open or not. Nothing for every other path.
std::optional<int> descriptor_of(std::string const& path);

/// Whether a descriptor is open for reading or writing. One with O_PATH only holds its number.
bool is_open(int descriptor);

/// Removes what has the name of a file that is about to be made: a link there would have another file written, a pipe
/// would be waited for. \throws RuntimeError where it cannot be.
void make_way_for_file(std::string const& path);

}  // namespace bellwether::input
