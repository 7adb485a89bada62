// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// Selects whether a path may begin with `~` or be a URL. A deck never allows it, because `./~name` is unambiguous. The
/// command line allows it if the file exists, because a shell expands `*` to such names.
enum class Tilde { refused, where_it_exists };

/// Detects a path that looks as if a shell should have expanded it, and a URL. This program expands nothing and opens
/// only files: it would create a folder named `~`, `$USER` or `s3:`.
/// `path`: as written. `base`: the folder that a relative path starts from.
/// Returns "what; what to write" for a leading `~` and for `scheme://`. Returns it also for `$NAME`, `${NAME}`,
/// `$(command)` and a command in backticks, in a part of the path that does not exist under exactly this name. Returns
/// an empty text for every other path.
std::string unexpanded_path(std::string const& path, std::string const& base, Tilde tilde);

/// Returns the first pattern of a path that a batch system would replace in its own options: `%j`, the job, in
/// `run_%j`, or `%4a`, the index in an array. Returns an empty text if there is none. The pattern ends at the end of
/// the path or before a character that is neither letter nor digit.
std::string batch_pattern(std::string_view path);

/// Returns true if the texts of a deck's key, "section.key", name files or folders.
bool names_files(std::string_view key);

/// Returns "what; what is allowed" if a folder's path leaves no room for the names of files in it; otherwise an empty
/// text. The system limits a whole path, so that a long one would only fail later, when the first file is written.
std::string length_fault(std::string const& folder);

}  // namespace bellwether::input
