// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/text/text_reader.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace bellwether;
using namespace bellwether::input;

namespace {

void write(std::string const& path, std::string const& text) { std::ofstream(path, std::ios::binary) << text; }

void write_gz(std::string const& path, std::string const& text) {
  gzFile const file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

/// Returns the lines, with "|" before each that starts a document.
std::vector<std::string> lines_of(std::vector<std::string> const& paths) {
  TextReader reader(paths);
  std::vector<std::string> lines;
  for (TextBlock block; reader.next(block);)
    for (auto const& line : block.lines)
      lines.push_back((line.starts_document ? "|" : "") + std::string(block.line(line)));
  CHECK(reader.bytes_read() == reader.bytes_total());
  return lines;
}

}  // namespace

TEST_CASE("blank lines and files end documents, compressed or not", "[text]") {
  TemporaryFolder const folder;
  write(folder / "a.txt", "one\ntwo\n\n \t\nthree");
  write_gz(folder / "b.txt.gz", "four\nfive\n");
  write(folder / "empty.txt", "");
  CHECK(lines_of({folder / "a.txt", folder / "empty.txt", folder / "b.txt.gz"}) ==
        std::vector<std::string>{"|one", "two", "|three", "|four", "five"});
}

TEST_CASE("very long lines are split at white space and lose nothing", "[text]") {
  TemporaryFolder const folder;
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "word ";
  write(folder / "long.txt", text + "\nnext\n\nlast\n");
  auto const lines = lines_of({folder / "long.txt"});
  std::string together;
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    CHECK(lines[i].size() <= TextReader::longest_line + 1);
    CHECK(lines[i].ends_with(' '));
    together += lines[i];
  }
  CHECK(together == "|" + text);
  CHECK(lines[lines.size() - 2] == "next");
  CHECK(lines.back() == "|last");
}

TEST_CASE("lines end with line feeds, carriage returns or both", "[text]") {
  TemporaryFolder const folder;
  std::vector<std::string> const expected{"|one", "two", "|three"};
  for (std::string const text :
       {"one\ntwo\n\nthree", "one\rtwo\r\rthree\r", "one\r\ntwo\r\n\r\nthree\r\n", "one\ntwo\r\rthree",
        "one\rtwo\n\nthree\r\n", "one\r\r\ntwo\r\r\n\r\r\nthree", "one\n\rtwo\n\r\n\rthree\n\r", "one\ntwo\n\r\nthree",
        "one\r\ntwo\n\r\nthree\n", "one\n\rtwo\n\r\rthree"}) {
    INFO(text);
    write(folder / "a.txt", text);
    CHECK(lines_of({folder / "a.txt"}) == expected);
  }
}

TEST_CASE("a line of white space or of invisible characters is blank", "[text]") {
  TemporaryFolder const folder;
  // No-break space, ideographic space, line separator, zero-width space, byte order mark, soft hyphen, control
  // character.
  for (std::string const blank :
       {"\u00A0", "\u3000 \t", "\u2028", "\u200B", "\uFEFF", "\u00AD", "\x01", "\u2003\u00A0"}) {
    write(folder / "a.txt", "one\n" + blank + "\ntwo\n");
    CHECK(lines_of({folder / "a.txt"}) == std::vector<std::string>{"|one", "|two"});
  }
  write(folder / "a.txt", "one\n\u00A0.\n\u4E00\n\xFF\ntwo\n");
  CHECK(lines_of({folder / "a.txt"}).size() == 5);
}

TEST_CASE("places have the right file and line for all line ends", "[text]") {
  TemporaryFolder const folder;
  write(folder / "a.txt", "1\r\r3\n4\r\n\n6\n" + std::string(2 * TextReader::longest_line, 'x') + "\n8\n");
  TextReader reader({folder / "a.txt"});
  std::vector<std::int64_t> lines;
  TextBlock block;
  while (reader.next(block))
    for (auto const& line : block.lines) lines.push_back(line.place.line);
  CHECK(lines == std::vector<std::int64_t>{1, 3, 4, 6, 7, 7, 8});
  CHECK(reader.describe({0, 4}) == folder / "a.txt" + ":4");
}

TEST_CASE("a text that is given by two paths is rejected", "[text]") {
  TemporaryFolder const folder;
  write(folder / "a.txt", "one\n");
  std::filesystem::create_symlink("a.txt", folder / "link.txt");
  std::filesystem::create_hard_link(folder / "a.txt", folder / "hard.txt");
  for (auto const& other : {folder / "link.txt", folder / "hard.txt", folder / "./a.txt", folder / "a.txt"})
    CHECK_THROWS_WITH(TextReader({folder / "a.txt", other}), Catch::Matchers::ContainsSubstring("is given twice"));
}

TEST_CASE("bytes that are not text are rejected with their position", "[text]") {
  TemporaryFolder const folder;
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "words and words\n";
  write(folder / "a.txt", text + std::string(600000, '\0'));
  CHECK_THROWS_WITH(lines_of({folder / "a.txt"}), Catch::Matchers::ContainsSubstring("a.txt: from line ") &&
                                                      Catch::Matchers::ContainsSubstring(" on, is binary"));
  write(folder / "b.txt", "BZh91AY&SY1234");
  write(folder / "c.txt", std::string("t\0e\0x\0t\0", 8));
  try {
    TextReader({folder / "b.txt", folder / "c.txt"});
    FAIL("no error");
  } catch (InputError const& error) {
    REQUIRE(error.faults().size() == 2);
    CHECK(error.faults()[0].find("b.txt: is a bzip2 file; allowed: UTF-8 text") != std::string::npos);
    CHECK(error.faults()[1].find("c.txt: is UTF-16LE text without a byte order mark") != std::string::npos);
  }
}

TEST_CASE("all texts that cannot be read are reported at once", "[text]") {
  TemporaryFolder const folder;
  try {
    write(folder / "plain.gz", "not gzip\n");
    TextReader reader({folder / "absent.txt", folder.path(), folder / "plain.gz"});
    FAIL("no error");
  } catch (InputError const& error) {
    REQUIRE(error.faults().size() == 3);
    CHECK(error.faults()[2].find("plain.gz: is not compressed with gzip") != std::string::npos);
    CHECK(error.faults()[0].ends_with("absent.txt: no such text"));
  }
  std::string noise;
  for (unsigned i = 0; i < 100000; ++i) noise += static_cast<char>('a' + (i * i * 2654435761u >> 20) % 26);
  write_gz(folder / "whole.gz", noise);
  std::ifstream whole(folder / "whole.gz", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  write(folder / "cut.gz", bytes.substr(0, bytes.size() / 2));
  CHECK_THROWS_WITH(lines_of({folder / "cut.gz"}),
                    Catch::Matchers::ContainsSubstring("ends inside the gzip member that begins at byte 0") &&
                        Catch::Matchers::ContainsSubstring("; 0 lines before it can be read"));
}

TEST_CASE("another encoding is rejected wherever it begins", "[text]") {
  TemporaryFolder const folder;
  std::string text, other;
  for (int i = 0; i < 30000; ++i) text += "plain words\n";
  for (int i = 0; i < 30000; ++i) other += "\xCB\xCF\xDB\xCB\xC1 word\n";
  write(folder / "mixed.txt", text + other);
  CHECK_THROWS_WITH(lines_of({folder / "mixed.txt"}), Catch::Matchers::ContainsSubstring("mixed.txt: from line ") &&
                                                          Catch::Matchers::ContainsSubstring("is not UTF-8"));
}

TEST_CASE("a byte order mark is not part of a file's first line", "[text]") {
  TemporaryFolder const folder;
  write(folder / "marked.txt", "\xEF\xBB\xBFone\ntwo\n");
  write(folder / "mark.txt", "\xEF\xBB\xBF");
  TextReader reader({folder / "marked.txt", folder / "mark.txt"});
  TextBlock block;
  REQUIRE(reader.next(block));
  REQUIRE(block.lines.size() == 2);
  CHECK(block.line(block.lines[0]) == "one");
  CHECK(reader.describe(block.lines[0].place) == folder / "marked.txt:1");
}

TEST_CASE("a text that changes after its inspection is rejected", "[text]") {
  TemporaryFolder const folder;
  auto const refused = [&](auto const& change) {
    write(folder / "text.txt", "one\ntwo\n");
    TextReader reader({folder / "text.txt"});
    change();
    TextBlock block;
    CHECK_THROWS_WITH(reader.next(block),
                      Catch::Matchers::ContainsSubstring("text.txt: has changed while it was read"));
  };
  refused([&] { write(folder / "text.txt", "other\n"); });
  refused([&] { std::ofstream(folder / "text.txt", std::ios::app) << "three\n"; });
  refused([&] {
    write(folder / "new.txt", "one\ntwo\n");
    std::filesystem::rename(folder / "new.txt", folder / "text.txt");
  });
}

TEST_CASE("files without text among others are named", "[text]") {
  TemporaryFolder const folder;
  write(folder / "text.txt", "one\n");
  write(folder / "last.txt", "two");
  write(folder / "empty.txt", "");
  write(folder / "blank.txt", " \n\n\u00A0\n");
  write_gz(folder / "mark.txt.gz", "\xEF\xBB\xBF");
  auto const warnings_of = [&](std::vector<std::string> const& names) {
    std::vector<std::string> paths;
    for (auto const& name : names) paths.push_back(folder / name);
    TextReader reader(paths);
    CHECK(reader.warnings().empty());
    TextBlock block;
    while (reader.next(block)) CHECK_FALSE(block.lines.empty());
    CHECK_FALSE(reader.next(block));  // the last file is counted once
    return reader.warnings();
  };
  CHECK(warnings_of({"text.txt", "last.txt"}).empty());
  CHECK(warnings_of({"empty.txt"}).empty());
  for (auto const* name : {"empty.txt", "blank.txt", "mark.txt.gz"}) {
    std::vector<std::string> const expected{
        folder / name + " holds no text, only white space or nothing at all: copy it again, or leave it out"};
    CHECK(warnings_of({"text.txt", name}) == expected);
    CHECK(warnings_of({name, "last.txt"}) == expected);
  }
  CHECK(warnings_of({"text.txt", "blank.txt", "empty.txt", "last.txt", "mark.txt.gz"}) ==
        std::vector<std::string>{folder / "blank.txt" + " and 2 other texts hold no text, only white space or nothing "
                                                        "at all: copy them again, or leave them out"});
}
