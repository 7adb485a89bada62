// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/text_kind.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace bellwether::input;
using namespace std::string_view_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

std::string fault_of(std::string_view bytes, Wrapping wrapping = Wrapping::none) {
  return text_fault(bytes, wrapping, "FILE");
}

/// Encodes `text` in units of `width` bytes, little- or big-endian.
std::string wide(std::u32string_view text, int width, bool little) {
  std::string bytes;
  for (char32_t const c : text)
    for (int i = 0; i < width; ++i) {
      int const shift = 8 * (little ? i : width - 1 - i);
      bytes += static_cast<char>(static_cast<std::uint32_t>(c) >> shift & 0xFF);
    }
  return bytes;
}

}  // namespace

TEST_CASE("files of other formats are recognised by their first bytes", "[text]") {
  std::string tar(512, 'a');
  tar.replace(257, 5, "ustar");
  std::string const zip = "PK\x03\x04" + std::string(26, '\0'), epub = zip + "mimetypeapplication/epub+zip",
                    office = zip + "[Content_Types].xml";
  for (auto const& [bytes, name] : std::initializer_list<std::pair<std::string_view, std::string>>{
           {"\xFD\x37zXZ\0\0\x04"sv,
            "an xz file; allowed: UTF-8 text, plain or gzip-compressed once; unpack it: xz -dc FILE | "},
           {"\x28\xB5\x2F\xFD\x24"sv, "a Zstandard file"},
           {"BZh91AY&SY\x01\x02"sv, "a bzip2 file"},
           {"\x04\x22\x4D\x18\x64"sv, "an LZ4 file"},
           {"\x1F\x9D\x90"sv, "a compress (.Z) file"},
           {"PK\x03\x04\x14\0"sv,
            "a zip archive; allowed: UTF-8 text, plain or gzip-compressed once; unpack it: unzip -p FILE | "},
           {epub,
            "an EPUB book; allowed: UTF-8 text, plain or gzip-compressed once; unpack it: pandoc -t plain FILE | "},
           {office, "a Microsoft Office document"},
           {"7z\xBC\xAF\x27\x1C\0"sv, "a 7-Zip archive"},
           {"Rar!\x1A\x07\x01"sv, "a RAR archive"},
           {tar, "a tar archive"},
           {"\x89PNG\r\n\x1A\n"sv, "a PNG image"},
           {"\xFF\xD8\xFF\xE0"sv, "a JPEG image"},
           {"%PDF-1.7\n"sv, "a PDF document"},
           {"\x89HDF\r\n\x1A\n"sv, "an HDF5 file"},
           {"\x7F\x45\x4C\x46\x02"sv, "a program"},
           {"PAR1\x15\x04"sv, "a Parquet file"}}) {
    CHECK_THAT(fault_of(bytes), StartsWith("is " + name));
    CHECK_THAT(fault_of(bytes, Wrapping::gzip), StartsWith("holds, gzip-compressed, " + name.substr(0, 8)));
  }
  CHECK_THAT(fault_of("\x1F\x8B\x08\0"sv, Wrapping::gzip),
             ContainsSubstring("gzip -dc FILE | gzip -dc | bellwether prepare -"));
}

TEST_CASE("texts that begin like magic bytes are text", "[text]") {
  for (auto const text :
       {"BZh is not a word.", "PARTS of it", "PAR1 was a car", "RIFF is an English surname", "GIF files", ""})
    CHECK((fault_of(text).empty() || std::string_view(text).starts_with("GIF8")));
  CHECK(fault_of("\xEF\xBB\xBFwith a mark").empty());
}

TEST_CASE("UTF-16 and UTF-32 are named, with and without a byte order mark", "[text]") {
  auto const text = U"These are some words.\nAnd some more of them.\n"sv;
  CHECK_THAT(fault_of(wide(text, 2, true)), StartsWith("is UTF-16LE text without a byte order mark"));
  CHECK_THAT(fault_of(wide(text, 2, false)), StartsWith("is UTF-16BE text without"));
  CHECK_THAT(fault_of(wide(text, 4, true)), StartsWith("is UTF-32LE text without"));
  CHECK_THAT(fault_of(wide(text, 4, false)), StartsWith("is UTF-32BE text without"));
  CHECK_THAT(fault_of("\xFF\xFE" + wide(text, 2, true)), StartsWith("is UTF-16 text; allowed"));
  CHECK_THAT(fault_of("\xFF\xFE\0\0"sv), StartsWith("is UTF-32 text; allowed"));
  // Ideographs contain no NUL bytes, but their bytes are not UTF-8.
  std::u32string chinese;
  for (char32_t c = 0; c < 2000; ++c) chinese += c % 20 == 19 ? U'\n' : 0x4E00 + c * 7 % 5000;
  CHECK(!fault_of(wide(chinese, 2, true)).empty());
  CHECK(!fault_of(wide(chinese, 2, false)).empty());
}

TEST_CASE("many control characters make a text binary, a few do not", "[text]") {
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < 4096; ++i) noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  CHECK_THAT(binary_fault(noise, "FILE"), StartsWith("is binary: 10 % of the bytes"));
  std::string text(1000, 'a');
  for (std::size_t i = 0; i < 1000; i += 60) text[i] = '\x01';
  CHECK(binary_fault(text, "FILE").empty());
  text.append(4, '\0');
  CHECK(!binary_fault(text, "FILE").empty());
  CHECK(binary_fault("a\x01", "FILE").empty());
  CHECK(binary_fault("\x1B[31mred\x1B[0m\f\v\t\r\n", "FILE").empty());
}

TEST_CASE("text in an 8-bit encoding is rejected if most of it would be lost", "[text]") {
  std::string cyrillic;  // CP1251
  for (int i = 0; i < 500; ++i) cyrillic += i % 6 == 5 ? ' ' : static_cast<char>(0xE0 + i % 32);
  CHECK_THAT(encoding_fault(cyrillic, "FILE"), StartsWith("is not UTF-8: ") && ContainsSubstring("iconv -f ENCODING"));
  std::string latin;  // a few accents in Latin-1: a later warning counts the lines
  for (int i = 0; i < 500; ++i) latin += i % 40 == 7 ? '\xE9' : 'a';
  CHECK(encoding_fault(latin, "FILE").empty());
  std::string russian;
  for (int i = 0; i < 500; ++i) russian += "\u0436";
  CHECK(encoding_fault(russian, "FILE").empty());
  CHECK(encoding_fault(russian.substr(0, 999), "FILE").empty());
}

TEST_CASE("markup gets a warning", "[text]") {
  CHECK_THAT(markup_warning("{\"text\": \"one\"}\n"), StartsWith("looks like JSON"));
  CHECK_THAT(markup_warning("\n [{\"text\": 1}, "), StartsWith("looks like JSON"));
  CHECK_THAT(markup_warning("<!DOCTYPE html>\n"), StartsWith("looks like HTML"));
  CHECK_THAT(markup_warning("\uFEFF<?xml version"), StartsWith("looks like HTML or XML"));
  CHECK_THAT(markup_warning("WARC/1.0\r\n"), StartsWith("is a web archive"));
  CHECK_THAT(markup_warning("version https://git-lfs.github.com/spec/v1\noid"), StartsWith("is a pointer of Git LFS"));
  for (auto const text : {"", "{braces} and (brackets)", "[1] A note.", "< 5 is less", "version 2 of it"})
    CHECK(markup_warning(text).empty());
}

TEST_CASE("archives without magic bytes are recognised by their headers", "[text]") {
  std::string tar(1024, '\0');
  tar.replace(0, 8, "text.txt");
  tar.replace(100, 7, "0000644");
  tar.replace(124, 11, "00000000005");
  unsigned sum = 8 * ' ';
  for (char const c : tar) sum += static_cast<unsigned char>(c);
  std::string digits(6, '0');
  for (std::size_t i = digits.size(); i-- > 0; sum /= 8) digits[i] = static_cast<char>('0' + sum % 8);
  tar.replace(148, 6, digits);
  tar.replace(512, 5, "words");
  CHECK_THAT(fault_of(tar), StartsWith("is a tar archive") && ContainsSubstring("tar -xO -f FILE | "));
  CHECK_THAT(fault_of(tar, Wrapping::gzip), ContainsSubstring("gzip -dc FILE | tar -xO -f - | "));
  CHECK_THAT(fault_of("070701" + std::string(104, '0') + "text.txt"), StartsWith("is a cpio archive"));
  CHECK(fault_of("070701 was the number of the first house. " + std::string(200, 'a')).empty());
  CHECK(fault_of(std::string(600, 'a')).empty());
}

TEST_CASE("encodings with escape sequences are recognised", "[text]") {
  CHECK_THAT(fault_of("\x1B$B$3$s$K$A$O\x1B(B\n"),
             StartsWith("is ISO-2022-JP text") && ContainsSubstring("iconv -f ISO-2022-JP -t UTF-8 FILE"));
  CHECK_THAT(fault_of("\x1B$)C\x0E0!\x0F\n"), StartsWith("is ISO-2022-KR text"));
  CHECK(fault_of("\x1B[1mbold\x1B[0m costs 5 $\n").empty());
}

TEST_CASE("a file of only NUL bytes is reported as an unfinished copy", "[text]") {
  CHECK_THAT(fault_of(std::string(5000, '\0')), StartsWith("holds only NUL bytes"));
}

TEST_CASE("markup is recognised in any layout", "[text]") {
  for (auto const* const json :
       {"{ \"text\": \"a\" }\n", "[\n  {\n    \"id\": 1", "{'text': 'a'}", "\xEF\xBB\xBF[{\"a\" : 1}]"})
    CHECK_THAT(markup_warning(json), StartsWith("looks like JSON"));
  for (auto const* const tags : {"<!-- page -->\n<html>", "<doc id=\"12\" url=\"x\">", "<DOC>\n<DOCNO>", "<page>\n"})
    CHECK_THAT(markup_warning(tags), StartsWith("looks like HTML or XML"));
  for (auto const* const text : {"[1] A note.", "{a} is a set: \"x\"", "{\"quoted\", he said}", "<unk> the cat",
                                 "< 5 % of all", "<!-- a note -->\nProse.", "<!-- not closed"})
    CHECK(markup_warning(text).empty());
}
