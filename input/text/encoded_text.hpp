// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Detects text that is valid UTF-8 but would be trained on as noise, because it was encoded for mail, for the web or
/// as a dump. Every detection needs several marks and a share of the text, so that a text about an encoding is no
/// match.
namespace bellwether::input {

/// Returns true if `count` marks are at least five, and more than one in `bytes_a_mark` bytes of `text`.
bool are_frequent(std::size_t count, std::string_view text, std::size_t bytes_a_mark);

/// Detects letters that are written in ASCII: UTF-7 (`+AOk-`), HZ (`~{1>~}`), quoted-printable (`=C3=A9`),
/// percent-encoding (`%C3%A9`), entities of HTML (`&eacute;`). Also detects UTF-8 that was encoded twice (U+00C3
/// U+00A9). Returns a warning without the file's name, or "". `text`: a part of the text, some KiB or more.
std::string encoding_warning(std::string_view text);

/// Detects binary data that is written as lines of letters: base64, hexadecimal digits, uuencode. They are a tenth of
/// the text or more. Returns a warning without the file's name, or "".
std::string dump_warning(std::string_view text);

}  // namespace bellwether::input
