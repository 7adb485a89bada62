// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Returns true if the folder contains files of a run. Other files do not count.
bool holds_run(std::string const& directory);

/// Moves the statistics of a job that wrote no checkpoint to a subfolder, because a start at step 0 would truncate
/// them. Returns that subfolder. \throws RuntimeError if they cannot be moved.
std::string set_record_aside(std::string const& directory);

/// Checks, without creating anything, that a run can write to `directory`. It or its nearest existing parent must be a
/// writable folder. \throws InputError that begins with the key.
void require_makeable(std::string const& directory);

}  // namespace bellwether::app
