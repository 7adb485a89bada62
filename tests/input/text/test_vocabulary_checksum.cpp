// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/vocabulary.hpp"
#include "input/text/vocabulary_checksum.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <xxhash.h>

#include <fstream>
#include <iterator>

using namespace bellwether::input;

namespace {

std::vector<std::string> const tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b"};

}  // namespace

TEST_CASE("the checksum of a vocabulary equals that of the file that prepare writes", "[vocabulary]") {
  TemporaryFolder const folder;
  write_vocabulary(folder / "vocab.txt", tokens);
  std::ifstream file(folder / "vocab.txt", std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto const sum = vocabulary_checksum(tokens);
  CHECK(is_vocabulary_checksum(sum));
  CHECK(checksum_number(sum) == XXH3_64bits(text.data(), text.size()));
  CHECK(vocabulary_checksum(Vocabulary::read(folder / "vocab.txt")) == sum);
}

TEST_CASE("the checksum ignores line ends but not the order of tokens", "[vocabulary]") {
  TemporaryFolder const folder;
  std::ofstream file(folder / "windows.txt", std::ios::binary);
  for (auto const& token : tokens) file << token << "\r\n";
  file.close();
  CHECK(vocabulary_checksum(Vocabulary::read(folder / "windows.txt")) == vocabulary_checksum(tokens));
  auto others = tokens;
  std::swap(others[5], others[6]);
  CHECK(vocabulary_checksum(others) != vocabulary_checksum(tokens));
  CHECK(vocabulary_checksum({"ab", "c"}) != vocabulary_checksum({"a", "bc"}));
}

TEST_CASE("checksums of vocabularies are sixteen digits or empty", "[vocabulary]") {
  CHECK(checksum_number("0000000000abcdef") == 0xabcdef);
  CHECK(checksum_number("ffffffffffffffff") == ~std::uint64_t{0});
  CHECK(checksum_number("") == 0);
  for (char const* text : {"", "0", "0000000000ABCDEF", "0000000000abcde ", "0x00000000abcdef", "0000000000abcdef0"})
    CHECK(!is_vocabulary_checksum(text));
}
