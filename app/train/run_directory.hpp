// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Returns true if the folder contains files of a run. Other files do not count.
bool holds_run(std::string const& directory);

/// Moves the statistics of a job that wrote no checkpoint to a subfolder, because a start at step 0 would truncate
/// them. Returns that subfolder. \throws RuntimeError if they cannot be moved.
std::string move_unfinished_record(std::string const& directory);

/// Checks the path itself, without looking at rights. It must leave room for names of files, and no link in it may lead
/// to a missing folder. \throws InputError that begins with the key.
void require_possible(std::string const& directory);

/// Checks the folders `checkpoints` and `statistics` of a run, if they exist. Each must be a writable folder; otherwise
/// a run would only fail at its first checkpoint. \throws InputError that begins with the key.
void require_own_folders(std::string const& directory);

/// Checks, without creating anything, that a run can write to `directory`. It or its nearest existing parent must be a
/// writable folder, and require_possible() and require_own_folders() must hold. \throws InputError that begins with the
/// key.
void require_makeable(std::string const& directory);

}  // namespace bellwether::app
