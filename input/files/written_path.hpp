// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// Whether a path may begin with `~` or be a URL: in a deck never, because `./~name` says the same without doubt; on
/// the command line where it exists, because a shell lists such names for `*`.
enum class Tilde { refused, where_it_exists };

/// What is wrong with a path that looks as if a shell should have expanded it, or as if it were a URL. This program
/// expands nothing and opens files alone, so that a folder with the name `~`, `$USER` or `s3:` would be made.
/// `path`: as written. `base`: the folder that a relative path starts from.
/// Returns "what; what to write" for a leading `~` and for `scheme://`. Does so, too, for `$NAME`, `${NAME}`,
/// `$(command)` and a command in backticks, in a part of the path that does not exist under this very name. Returns an
/// empty text for every other path.
std::string unexpanded_path(std::string const& path, std::string const& base, Tilde tilde);

/// Whether the texts of a deck's key, "section.key", name files or folders.
bool names_files(std::string_view key);

}  // namespace bellwether::input
