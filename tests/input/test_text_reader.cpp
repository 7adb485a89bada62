// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/error.hpp"
#include "input/text_reader.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <zlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

using namespace bellwether;
using namespace bellwether::input;

namespace {

void write(std::string const& path, std::string const& text) { std::ofstream(path, std::ios::binary) << text; }

void write_gz(std::string const& path, std::string const& text) {
  gzFile const file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

/// Lines, with "|" before each that starts a document.
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

TEST_CASE("very long lines are cut at white space and lose nothing", "[text]") {
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

TEST_CASE("texts that cannot be read are named, all at once", "[text]") {
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
  CHECK_THROWS_WITH(lines_of({folder / "cut.gz"}), Catch::Matchers::ContainsSubstring("cut.gz:1: reading stops here"));
}

TEST_CASE("sentences end at marks before capitals", "[text]") {
  std::string const text = "Mr. J. Smith paid 3.14 dollars (at 5 p.m. sharp). \"Why?\" he asked. No... Yes!";
  std::vector<std::string> sentences;
  for (std::size_t at = 0; at < text.size();) {
    auto const end = sentence_end(text, at);
    sentences.push_back(text.substr(at, end - at));
    at = end;
  }
  CHECK(sentences == std::vector<std::string>{"Mr.", " J. Smith paid 3.14 dollars (at 5 p.m. sharp).",
                                              " \"Why?\" he asked.", " No...", " Yes!"});
}
