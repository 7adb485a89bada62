// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// How bytes are compressed in the file; messages say how to decompress them.
enum class Wrapping { none, gzip };

/// Detects bytes that are not UTF-8 text. Searches for the magic bytes of archives, images and other formats, and for a
/// byte order mark of UTF-16 or UTF-32. Otherwise it does what stretch_fault() does.
/// `start`: the beginning of the file, decompressed if `wrapping` is gzip; some KiB, or the whole file.
/// `file`: the name that commands in the message use. `consumer`: the command there that reads the unpacked text.
/// Returns what the bytes are, what is allowed and what to do; empty for text.
std::string text_fault(std::string_view start, Wrapping wrapping, std::string const& file,
                       std::string const& consumer = "bellwether prepare -");

/// Returns the format that the first bytes show, such as "a gzip file"; empty if they show none.
std::string_view format_name(std::string_view start);

/// Returns the command that writes the content of a compressed file or an archive into files, such as "xz -dc FILE >
/// NEW"; empty for other formats. `start`: the first 512 bytes, or the whole file.
std::string_view unpack_command(std::string_view start);

/// Detects bytes that no text contains: only NUL, or more than 2 % NUL or control characters. Recognises UTF-16 and
/// UTF-32 without a byte order mark by the positions of the NULs. Returns "" for text; otherwise as text_fault() does.
std::string binary_fault(std::string_view bytes, std::string const& file);

/// Detects text in an encoding other than UTF-8: more than a tenth of the characters cannot be decoded. A character
/// that is cut off at the end of `text` does not count.
std::string encoding_fault(std::string_view text, std::string const& file);

/// Checks any part of a text: returns the fault of binary_fault(), else that of encoding_fault(), else an empty text.
std::string stretch_fault(std::string_view bytes, std::string const& file);

/// Detects markup that would be trained on as if it were text, at the beginning of a text. It may be a JSON or Python
/// object, the first tag of HTML, XML, WikiExtractor or TREC, WARC headers, or a Git LFS pointer. Otherwise it does
/// what later_markup_warning() does. Returns a warning without the file's name, or "".
std::string markup_warning(std::string_view start);

/// Detects JSON, HTML, XML, tables, encodings of mail and web, dumps, LaTeX, wiki markup, SQL, roff, BBCode and marks
/// of other tokenizers in any part of a text, by their share of it. See structured_text.hpp, encoded_text.hpp,
/// typeset_text.hpp, rare_markup.hpp and tokenized_text.hpp. `part`: some KiB or more.
std::string later_markup_warning(std::string_view part);

}  // namespace bellwether::input
