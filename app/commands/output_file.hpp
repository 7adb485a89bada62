// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Files that the user names for output. A command replaces only what a command of the same kind wrote.
namespace bellwether::app {

/// A kind of output, and how its files are recognised.
struct OutputKind {
  std::string_view what;             ///< in messages: "an HTML page"
  std::string_view ending;           ///< of names, with the dot
  bool (*begins)(std::string_view);  ///< true if a file that begins like this is of the kind
};
extern OutputKind const html_page, bench_results;

/// Checks before the work starts that a file of this kind can be written and that nothing else is lost. An existing
/// file is replaced only if it is empty or of the kind. In a run's directory the name must have the ending of the kind:
/// an empty file `stop`, for example, is an instruction there.
///
/// \throws InputError if something else would be lost or the file cannot be written. \throws input::NoRoom if the
/// system lacks room.
void require_output_file(std::string const& path, OutputKind const& kind);

}  // namespace bellwether::app
