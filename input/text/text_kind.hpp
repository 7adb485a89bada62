// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// How a stretch of bytes was reached; a message says how to undo it.
enum class Wrapping { none, gzip };

/// Recognises bytes that are no UTF-8 text. It looks for the magic bytes of archives, images and other formats, and for
/// a byte order mark of UTF-16 or UTF-32. For all others it does what stretch_fault() does.
/// `start` is the beginning of the file, after decompression if `wrapping` is gzip: some KiB, or the whole file.
/// `file` is the name that commands in the message use; `consumer` is what takes the unpacked text there.
/// Returns what the bytes are, what is allowed and what to do; empty for text.
std::string text_fault(std::string_view start, Wrapping wrapping, std::string const& file,
                       std::string const& consumer = "bellwether prepare -");

/// The format that magic bytes show, "a gzip file"; empty where they show none.
std::string_view format_name(std::string_view start);

/// Recognises bytes that no text holds: NUL alone, or more than 2 % NUL or control characters. Names UTF-16 and UTF-32
/// without a byte order mark by where the NULs are. Returns "" for text; otherwise as text_fault() does.
std::string binary_fault(std::string_view bytes, std::string const& file);

/// Recognises text in another encoding than UTF-8: more than a tenth of the characters cannot be decoded. A character
/// that is cut at the end of `text` does not count.
std::string encoding_fault(std::string_view text, std::string const& file);

/// What no stretch of a text may be: the fault of binary_fault(), else that of encoding_fault(), else empty.
std::string stretch_fault(std::string_view bytes, std::string const& file);

/// Recognises markup that would be trained on as if it were text: JSON, Python's objects, HTML, XML, the documents of
/// WikiExtractor and TREC, WARC headers, a pointer of Git LFS. Returns a warning without the file's name, or "".
std::string markup_warning(std::string_view start);

}  // namespace bellwether::input
