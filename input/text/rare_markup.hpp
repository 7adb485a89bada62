// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// Detects markup that few corpora have: SQL dumps, where statements `INSERT INTO ... VALUES` and their rows are more
/// than a third of the text; roff, as man pages are written in; BBCode of forums. Returns a warning without the file's
/// name, or "". `text`: a part of the text, some KiB or more.
std::string rare_markup_warning(std::string_view text);

}  // namespace bellwether::input
