// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Files that survive a crash: contents are synchronised before the rename, and the rename before the next step.
namespace bellwether::app {

/// Calls fsync for a file or a folder. \throws RuntimeError with the path and the system's reason.
void sync_path(std::string const& path);

/// Synchronises `temporary`, renames it to `path` and synchronises the folder. Readers see the old or the new file.
/// \throws RuntimeError with file and reason.
void replace_file(std::string const& temporary, std::string const& path);

/// Writes a text file atomically through `path`.part. \throws RuntimeError with file and reason.
void write_text_file(std::string const& path, std::string_view text);

/// Writes a text file to a path that the user chose. Follows links, and writes directly to devices and pipes
/// (/dev/stdout). Never waits for a pipe to get a reader. \throws RuntimeError with file and reason.
void write_chosen_file(std::string const& path, std::string_view text);
/// Checks, without changing anything, that write_chosen_file() will succeed. Keeps a pipe open, so that its reader
/// waits. \throws RuntimeError if it will not: input::NoRoom if the system lacks room.
void require_writable_file(std::string const& path);

}  // namespace bellwether::app
