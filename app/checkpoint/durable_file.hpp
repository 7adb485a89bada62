// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// What makes a file survive: contents on the device before its name, the name before the next step.
namespace bellwether::app {

/// fsync of a file or a folder. \throws RuntimeError naming it and the system's reason.
void sync_path(std::string const& path);

/// Synchronises `temporary`, gives it the name `path`, synchronises the folder: readers see the old or the new file.
/// \throws RuntimeError naming file and reason.
void replace_file(std::string const& temporary, std::string const& path);

/// A text file, whole or not at all, through `path`.part. \throws RuntimeError naming file and reason.
void write_text_file(std::string const& path, std::string_view text);

/// A text file of the user's choice: a link stays one, and what is no file, such as /dev/stdout, is written to.
/// \throws RuntimeError naming file and reason.
void write_chosen_file(std::string const& path, std::string_view text);
/// Whether that will be possible, without a change to what is there. \throws RuntimeError where it will not.
void require_writable_file(std::string const& path);

}  // namespace bellwether::app
