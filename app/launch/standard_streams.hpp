// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// First of all in main(): descriptors 0 to 2 that the program was started without are taken, so that no file that is
/// opened later gets their number and with it what is printed. Reading and writing them still fails.
void reserve_standard_streams();

/// Before MPI starts: descriptors that the command line names, as `/dev/fd/7`, and that the program was started without
/// are taken like that, too. Else the program would read a descriptor of MPI, and wait there without end.
void reserve_descriptors(int argc, char const* const* argv);

/// What a command has written may still lie in buffers: why it does not arrive, "standard output: cannot be written:
/// No space left on device"; empty where it does.
std::string lost_output();

}  // namespace bellwether::app
