// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Detects markup and data formats by their share of a part of a text, wherever that part begins.
namespace bellwether::input {

inline constexpr char const* json_warning_text =
    "looks like JSON: names and braces become words to train on; extract the text first, by "
    "`jq -r '.text + \"\\n\"'` for example";
inline constexpr char const* tag_warning_text =
    "looks like HTML or XML: tags become words to train on; extract the text first";

/// Returns true if `text` begins with a JSON or Python object `{"name": ...`, or with a list of such objects, also
/// across line ends.
bool begins_with_object(std::string_view text);

/// Detects JSON: lines with an object or a list in more than a tenth of the text, lines with a member of an object in a
/// third, or a string on each line. Returns a warning without the file's name, or "".
std::string json_warning(std::string_view text);

/// Detects HTML and XML: more than one tag in 400 bytes, or many lines `<doc ...>`. Names in angle brackets without
/// attributes and without a slash, as in chats and source code, do not count. Returns as json_warning() does.
std::string tag_warning(std::string_view text);

/// Detects escapes `\n` and `\"` in place of line ends and quotes. Strings in source code do not count. Returns as
/// json_warning() does.
std::string escape_warning(std::string_view text);

/// Detects tables: three or more columns that tabs separate, or commas or semicolons if fields are quoted or the first
/// line is a header. Two columns count if one is a label and the other a text. Returns as json_warning() does.
std::string table_warning(std::string_view text);

}  // namespace bellwether::input
