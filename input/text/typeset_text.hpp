// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// Detects the source of typeset text: LaTeX, and wiki markup as MediaWiki has it. Commands or links of it are more
/// than one in fifty words of LaTeX, one in a hundred of a wiki. Markdown with source code is no match. Returns a
/// warning without the file's name, or "". `text`: a part of the text, some KiB or more.
std::string typesetting_warning(std::string_view text);

}  // namespace bellwether::input
