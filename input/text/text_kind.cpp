// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/text_kind.hpp"

#include "input/text/encoded_text.hpp"
#include "input/text/rare_markup.hpp"
#include "input/text/structured_text.hpp"
#include "input/text/tokenized_text.hpp"
#include "input/text/typeset_text.hpp"
#include "input/text/unicode.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <system_error>

namespace bellwether::input {
namespace {

using namespace std::string_view_literals;

/// A format that is not text.
struct Format {
  std::size_t offset;
  std::string_view magic, name;
  std::string_view unpack;         ///< writes the content to standard output; empty if the content is not text either
  std::string_view to_files = {};  ///< writes any content into files; empty if the format packs no files
};

constexpr Format formats[] = {
    {0, "\x1F\x8B"sv, "a gzip file", "gzip -dc", "gzip -dc FILE > NEW"},
    {0, "BZh"sv, "a bzip2 file", "bzip2 -dc", "bzip2 -dc FILE > NEW"},
    {0, "\xFD\x37zXZ\0"sv, "an xz file", "xz -dc", "xz -dc FILE > NEW"},
    {0, "\x5D\0\0"sv, "an lzma file", "xz --format=lzma -dc", "xz --format=lzma -dc FILE > NEW"},
    {0, "\x28\xB5\x2F\xFD"sv, "a Zstandard file", "zstd -dc", "zstd -dc FILE > NEW"},
    {0, "\x04\x22\x4D\x18"sv, "an LZ4 file", "lz4 -dc", "lz4 -dc FILE > NEW"},
    {0, "\x02\x21\x4C\x18"sv, "an LZ4 file", "lz4 -dc", "lz4 -dc FILE > NEW"},
    {0, "LZIP\x01"sv, "an lzip file", "lzip -dc", "lzip -dc FILE > NEW"},
    {0, "\x1F\x9D"sv, "a compress (.Z) file", "gzip -dc", "gzip -dc FILE > NEW"},
    {0, "\x89LZO\0"sv, "an lzop file", "lzop -dc", "lzop -dc FILE > NEW"},
    {0, "\xFF\x06\0\0sNaPpY"sv, "a framed Snappy file", "python3 -m snappy -d", "python3 -m snappy -d FILE > NEW"},
    {30, "mimetypeapplication/epub+zip"sv, "an EPUB book", "pandoc -t plain"},
    {30, "mimetypeapplication/vnd.oasis.opendocument.text"sv, "an OpenDocument text", "pandoc -t plain"},
    {30, "[Content_Types].xml"sv, "a Microsoft Office document", "pandoc -t plain"},
    {0, "PK\x03\x04"sv, "a zip archive", "unzip -p", "unzip FILE"},
    {0, "PK\x05\x06"sv, "an empty zip archive", ""},
    {0, "7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive", "7z x -so", "7z x FILE"},
    {0, "Rar!\x1A\x07"sv, "a RAR archive", "unrar p -inul", "unrar x FILE"},
    {257, "ustar"sv, "a tar archive", "tar -xO -f", "tar -xf FILE"},
    {0, "070701"sv, "a cpio archive", "cpio -i --to-stdout --quiet <", "cpio -i < FILE"},
    {0, "070702"sv, "a cpio archive", "cpio -i --to-stdout --quiet <", "cpio -i < FILE"},
    {0, "070707"sv, "a cpio archive", "cpio -i --to-stdout --quiet <", "cpio -i < FILE"},
    {0, "!<arch>\n"sv, "an ar archive", ""},
    {0,
     "\x7F"
     "ELF"sv,
     "a program", ""},
    {0, "\x89PNG\r\n"sv, "a PNG image", ""},
    {0, "\xFF\xD8\xFF"sv, "a JPEG image", ""},
    {0, "GIF8"sv, "a GIF image", ""},
    {0, "II*\0"sv, "a TIFF image", ""},
    {0, "MM\0*"sv, "a TIFF image", ""},
    {0, "RIFF"sv, "an image, sound or film (RIFF)", ""},
    {0, "\0\0\1\0"sv, "an icon", ""},
    {0, "%PDF-"sv, "a PDF document", "pdftotext"},
    {0, "%!PS"sv, "a PostScript document", "ps2ascii"},
    {0, "{\\rtf"sv, "a rich text document", "unrtf --text"},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "an old Microsoft Office document", ""},
    {0, "\x89HDF\r\n\x1A\n"sv, "an HDF5 file", ""},
    {0, "SQLite format 3\0"sv, "an SQLite database", ""},
    {0, "PAR1"sv, "a Parquet file", ""},
    {0, "ARROW1\0"sv, "an Arrow file", ""},
    {0, "Obj\x01"sv, "an Avro file", ""},
    {0, "\x93NUMPY"sv, "a NumPy array", ""},
    {0, "\xCA\xFE\xBA\xBE"sv, "a program", ""},
    {0, "OggS"sv, "a sound (Ogg)", ""},
    {0, "ID3\x03"sv, "a sound (MP3)", ""},
    {0, "ID3\x04"sv, "a sound (MP3)", ""},
};

constexpr std::string_view allowed = "; allowed: UTF-8 text, plain or gzip-compressed once";

bool is_bzip2(std::string_view start) {
  return start.size() >= 10 && start[3] >= '1' && start[3] <= '9' &&
         (start.substr(4, 6) == "\x31\x41\x59\x26\x53\x59" || start.substr(4, 6) == "\x17\x72\x45\x38\x50\x90");
}

/// Detects a header of 76 octal or 110 hexadecimal digits.
bool is_cpio(std::string_view start) {
  std::size_t const digits = start.starts_with("070707") ? 76 : 110;
  return start.size() >= digits && start.substr(0, digits).find_first_not_of("0123456789abcdefABCDEF") == start.npos;
}

/// Detects a tar archive from before 1988, without magic bytes. Byte 148 holds the sum of the first 512 bytes, where
/// the field itself counts as blanks.
bool is_old_tar(std::string_view start) {
  constexpr std::size_t header = 512, field = 148, field_size = 8;
  if (start.size() < header) return false;
  unsigned sum = 0, stored = 0;
  for (std::size_t i = 0; i < header; ++i)
    sum += i >= field && i < field + field_size ? ' ' : static_cast<unsigned char>(start[i]);
  auto digits = start.substr(field, field_size);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), stored, 8);
  return error == std::errc() && end != digits.data() && stored == sum;
}

/// Returns the 7-bit encoding of Chinese, Japanese or Korean text that switches character sets by escape sequences;
/// empty if there is none.
std::string escaped_encoding(std::string_view start) {
  if (start.find("\x1B$)C") != start.npos) return "ISO-2022-KR";
  if (start.find("\x1B$)A") != start.npos || start.find("\x1B$)G") != start.npos) return "ISO-2022-CN";
  for (auto const* const japanese : {"\x1B$B", "\x1B$@", "\x1B$(D"})
    if (start.find(japanese) != start.npos) return "ISO-2022-JP";
  return "";
}

/// Returns true if `start` has this format. Some magic bytes are letters that a text may begin with.
bool is_of(Format const& format, std::string_view start) {
  if (start.size() < format.offset || !start.substr(format.offset).starts_with(format.magic)) return false;
  if (format.magic == "BZh") return is_bzip2(start);
  if (format.magic.starts_with("0707")) return is_cpio(start);
  if (format.magic == "RIFF") return start.size() >= 12 && start.substr(0, 12).find('\0') != std::string_view::npos;
  if (format.magic == "PAR1") return start.size() >= 5 && (static_cast<unsigned char>(start[4]) < 0x20);
  return true;
}

std::string name_of_mark(std::string_view start) {
  if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (start.starts_with("\xFF\xFE"sv) || start.starts_with("\xFE\xFF"sv)) return "UTF-16";
  return "";
}

std::string convert(std::string const& encoding, std::string const& file) {
  return std::string(allowed) + "; convert it: iconv -f " + encoding + " -t UTF-8 " + file + " > converted.txt";
}

bool is_control(unsigned char c) {
  // Does not count tab, line feed, vertical tab, form feed, carriage return, and the escape of coloured terminal
  // output.
  return c < 9 || (c > 13 && c < 27) || (c > 27 && c < 32) || c == 127;
}

/// Guesses the encoding from the positions of NUL bytes: the high bytes of characters below U+0100. Empty if none fits.
std::string nul_encoding(std::array<std::size_t, 4> const& nuls, std::size_t size) {
  auto const most = [&](std::size_t at) { return nuls[at] * 4 > size / 4 * 3; };
  if (most(1) && most(2) && most(3)) return "UTF-32LE";
  if (most(0) && most(1) && most(2)) return "UTF-32BE";
  std::size_t const even = nuls[0] + nuls[2], odd = nuls[1] + nuls[3];
  if (odd * 20 > size && even * 4 < odd) return "UTF-16LE";
  if (even * 20 > size && odd * 4 < even) return "UTF-16BE";
  return "";
}

constexpr auto blanks = " \t\r\n";

/// Returns true if the first tag is one that opens a whole document. Comments may stand before it; a comment before
/// prose is no markup.
bool opens_document(std::string_view start) {
  while (start.starts_with("<!--")) {
    start.remove_prefix(std::min(start.find("-->"), start.size() - 3) + 3);
    start.remove_prefix(std::min(start.find_first_not_of(blanks), start.size()));
  }
  std::string lower(start.substr(0, 16));
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::string_view openings[] = {"<!doctype", "<html", "<?xml", "<mediawiki", "<head>", "<body",
                                           "<doc>",     "<doc ", "<page", "<article",   "<text>", "<tei"};
  return std::ranges::any_of(openings, [&](std::string_view opening) { return lower.starts_with(opening); });
}

Format const* find_format(std::string_view start) {
  auto const* const found = std::ranges::find_if(formats, [&](auto const& format) { return is_of(format, start); });
  return found == std::end(formats) ? nullptr : found;
}

}  // namespace

std::string_view format_name(std::string_view start) {
  if (auto const* const format = find_format(start)) return format->name;
  return is_old_tar(start) ? "a tar archive" : "";
}

std::string_view unpack_command(std::string_view start) {
  if (auto const* const format = find_format(start)) return format->to_files;
  return is_old_tar(start) ? "tar -xf FILE" : "";
}

std::string text_fault(std::string_view start, Wrapping wrapping, std::string const& file,
                       std::string const& consumer) {
  bool const packed = wrapping == Wrapping::gzip;
  std::string const within = packed ? "holds, gzip-compressed, " : "is ";
  if (auto const* const format = find_format(start)) {
    std::string const what = within + std::string(format->name) + std::string(allowed);
    if (format->unpack.empty()) return what + "; extract its text first";
    if (format->unpack == "pdftotext") return what + "; extract its text first, as pdftotext does";
    std::string const unpack(format->unpack);
    bool const tar = format->offset > 0;
    return what + "; unpack it: " +
           (packed ? "gzip -dc " + file + " | " + unpack + (tar ? " - | " : " | ") : unpack + " " + file + " | ") +
           consumer;
  }
  if (auto const mark = name_of_mark(start); !mark.empty()) return within + mark + " text" + convert(mark, file);
  if (is_old_tar(start))
    return within + "a tar archive" + std::string(allowed) +
           "; unpack it: " + (packed ? "gzip -dc " + file + " | tar -xO -f - | " : "tar -xO -f " + file + " | ") +
           consumer;
  if (auto const encoding = escaped_encoding(start); !encoding.empty())
    return within + encoding + " text" + convert(encoding, file);
  return stretch_fault(start, file);
}

std::string stretch_fault(std::string_view bytes, std::string const& file) {
  auto const binary = binary_fault(bytes, file);
  return binary.empty() ? encoding_fault(bytes, file) : binary;
}

std::string binary_fault(std::string_view bytes, std::string const& file) {
  std::size_t controls = 0, nul_bytes = 0;
  for (char const c : bytes) {
    controls += is_control(static_cast<unsigned char>(c)) ? 1 : 0;
    nul_bytes += c == '\0' ? 1 : 0;
  }
  // A few control characters do not make a text binary, however short it is.
  constexpr std::size_t stray = 8;
  bool const binary = 50 * controls > bytes.size() && (controls >= stray || 4 * nul_bytes >= bytes.size());
  if (!binary) return "";
  if (nul_bytes == bytes.size())
    return "holds only NUL bytes, like a copy or download that did not finish; get a complete copy";
  std::array<std::size_t, 4> nuls{};
  for (std::size_t i = 0; i < bytes.size(); ++i) nuls[i % 4] += bytes[i] == '\0' ? 1 : 0;
  if (auto const encoding = nul_encoding(nuls, bytes.size()); !encoding.empty())
    return "is " + encoding + " text without a byte order mark" + convert(encoding, file);
  return "is binary: " + std::to_string(100 * controls / bytes.size()) +
         " % of the bytes are NUL or control characters" + std::string(allowed);
}

std::string encoding_fault(std::string_view text, std::string const& file) {
  std::size_t characters = 0, undecoded = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    std::size_t const begin = at;
    if (decode_utf8(text, at) != replacement_character || text.substr(begin, at - begin) == "\xEF\xBF\xBD") continue;
    if (at < text.size()) ++undecoded;
  }
  constexpr std::size_t stray = 16;
  if (undecoded < stray || 10 * undecoded <= characters) return "";
  return "is not UTF-8: " + std::to_string(100 * undecoded / characters) + " % of the characters cannot be decoded" +
         std::string(allowed) + "; convert it from its own encoding: iconv -f ENCODING -t UTF-8 " + file +
         " > converted.txt";
}

std::string markup_warning(std::string_view start) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  start.remove_prefix(std::min(start.find_first_not_of(blanks), start.size()));
  auto const line = start.substr(0, start.find_first_of("\r\n"));
  if (line.starts_with("version https://git-lfs"))
    return "is a pointer of Git LFS, not the text itself; `git lfs pull` gets the text";
  if (line.starts_with("WARC/"))
    return "is a web archive (WARC): headers become words to train on; extract the text first";
  if (begins_with_object(start)) return json_warning_text;
  if (opens_document(start)) return tag_warning_text;
  return later_markup_warning(start);
}

std::string later_markup_warning(std::string_view part) {
  for (auto const detect : {json_warning, dump_warning, token_warning, rare_markup_warning, typesetting_warning,
                            tag_warning, encoding_warning, escape_warning, table_warning})
    if (auto warning = detect(part); !warning.empty()) return warning;
  return "";
}

}  // namespace bellwether::input
