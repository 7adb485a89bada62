// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Opens descriptors 0 to 2 if the program was started without them. Otherwise a file opened later would get such a
/// number, and printed text would end up in it. Call it first in main(). Reading and writing these descriptors still
/// fails.
void reserve_standard_streams();

/// Reserves descriptors that the command line names, such as `/dev/fd/7`, and that are not open. Call it before MPI
/// starts. Otherwise the program would read a descriptor of MPI and wait without end.
void reserve_descriptors(int argc, char const* const* argv);

/// Flushes standard output. Returns why text was lost, "standard output: cannot be written: No space left on device",
/// or an empty text.
std::string lost_output();

}  // namespace bellwether::app
