// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// Whether some run has left its record in this folder; other files may lie beside it.
bool holds_run(std::string const& directory);

/// A start at step 0 would cut what a job without a checkpoint has recorded. Returns the folder that has it now.
/// \throws RuntimeError.
std::string set_record_aside(std::string const& directory);

/// Finds, without making anything, whether a run can write there: the folder, or the nearest one above it that exists,
/// is a folder and writable. \throws InputError with the key in front.
void require_makeable(std::string const& directory);

}  // namespace bellwether::app
