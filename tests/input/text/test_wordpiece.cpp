// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/text/token_lines.hpp"
#include "input/text/wordpiece.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string> const small = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un",  "##aff",  "##able",
                                        "##a",   "a",     "b",     "##b",   ",",      "une", "\u4E2D", "##\u00F8"};

std::vector<std::int32_t> encode(std::string_view text, WrittenSpecials written = WrittenSpecials::tokens) {
  Vocabulary const vocabulary(small, "small");
  TokenizerTables const tables(vocabulary);
  Tokenizer tokenizer(tables, written);
  std::vector<std::int32_t> first, again;
  tokenizer.encode(text, first);
  tokenizer.encode(text, again);  // now from the cache
  CHECK(first == again);
  return first;
}

using Ids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("the longest piece is taken and a word without pieces is unknown", "[wordpiece]") {
  CHECK(encode("unaffable") == Ids{5, 6, 7});
  CHECK(encode("UNAFFABLE, a") == Ids{5, 6, 7, 12, 9});
  CHECK(encode("une") == Ids{13});
  CHECK(encode("unaffx a") == Ids{1, 9});
  CHECK(encode("\u00E1 \u4E2Da") == Ids{9, 14, 9});
  CHECK(encode("a\u00D8") == Ids{9, 15});
  CHECK(encode("").empty());
  CHECK(encode("a\x01"
               "b") == Ids{9, 11});
}

TEST_CASE("a word of 100 characters is split, one of 101 is unknown", "[wordpiece]") {
  std::string const hundred(100, 'a');
  Ids expected(100, 8);
  expected[0] = 9;
  CHECK(encode(hundred) == expected);
  CHECK(encode(hundred + "a") == Ids{1});
  CHECK(encode(std::string(100000, 'b') + " b") == Ids{1, 10});
  std::string accents = hundred;
  for (int i = 0; i < 1000; ++i) accents += "\u0301";
  CHECK(encode(accents) == expected);
}

TEST_CASE("special tokens written in a text are tokens only on request", "[wordpiece]") {
  CHECK(encode("a[MASK]b") == Ids{9, 4, 10});
  CHECK(encode("[[SEP]a") == Ids{1, 3, 9});
  CHECK(encode("[mask]") == Ids{1, 1, 1});
  CHECK(encode("[SEP]", WrittenSpecials::characters) == Ids{1, 1, 1});
}

TEST_CASE("a faulty vocabulary is rejected with file and line", "[vocabulary]") {
  auto tokens = small;
  tokens[6] = std::string("un");  // g++ 12 warns about an overlap when the literal is assigned
  tokens[7] = std::string("\xFF");
  CHECK_THROWS_WITH(Vocabulary(tokens, "v.txt"),
                    ContainsSubstring("v.txt:7: token 'un' is already on line 6") && ContainsSubstring("v.txt:8: "));
  tokens = small;
  tokens[1] = std::string("unk");
  CHECK_THROWS_WITH(Vocabulary(tokens, "v.txt"), ContainsSubstring("v.txt: no line holds [UNK]"));
  CHECK_THROWS_AS(Vocabulary::read("does-not-exist.txt"), InputError);
}

TEST_CASE("a line of a vocabulary that no word can match is rejected", "[vocabulary]") {
  for (auto const* line : {"un able", "un\t120", " un", "# a comment", "\t##able"}) {
    auto tokens = small;
    tokens.emplace_back(line);
    CHECK_THROWS_WITH(Vocabulary(tokens, "v.txt"),
                      ContainsSubstring("v.txt:" + std::to_string(tokens.size()) + ": a blank or tab stands"));
  }
  for (auto const* line : {"# a comment", "#version", "#!vocabulary"}) {
    auto tokens = small;
    tokens.insert(tokens.begin(), line);
    CHECK_THROWS_WITH(Vocabulary(tokens, "v.txt"), ContainsSubstring("v.txt:1: ") && ContainsSubstring("comments"));
  }
  for (auto const* line : {"#", "##", "###", "##x"}) {
    auto tokens = small;
    tokens.insert(tokens.begin(), line);
    CHECK_NOTHROW(Vocabulary(tokens, "v.txt"));
  }
}

TEST_CASE("a vocabulary reads back as written", "[vocabulary]") {
  auto const path = (std::filesystem::temp_directory_path() / "bellwether_test_vocabulary.txt").string();
  write_vocabulary(path, small);
  auto const vocabulary = Vocabulary::read(path);
  CHECK(vocabulary.size() == static_cast<std::int64_t>(small.size()));
  CHECK(vocabulary.token(13) == "une");
  CHECK(vocabulary.find("##able") == 7);
  CHECK(vocabulary.special().mask == 4);
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  std::filesystem::remove(path);
}

TEST_CASE("a byte order mark and line ends do not change a vocabulary", "[vocabulary]") {
  auto const path = (std::filesystem::temp_directory_path() / "bellwether_marked_vocab.txt").string();
  for (std::string const& mark : {std::string(), std::string("\xEF\xBB\xBF")})
    for (std::string const& end : {std::string("\n"), std::string("\r\n"), std::string("\r"), std::string(" \t\r\n")}) {
      {
        std::ofstream file(path, std::ios::binary);
        file << mark;
        for (auto const& token : small) file << token << end;
      }
      auto const vocabulary = Vocabulary::read(path);
      CHECK(vocabulary.size() == static_cast<std::int64_t>(small.size()));
      for (std::size_t i = 0; i < small.size(); ++i) CHECK(vocabulary.token(static_cast<std::int32_t>(i)) == small[i]);
    }
  std::ofstream(path, std::ios::binary) << "\xFF\xFE[\0P\0";
  CHECK_THROWS_WITH(Vocabulary::read(path), ContainsSubstring("is UTF-16 text; allowed: UTF-8 text"));
  std::filesystem::remove(path);
}

TEST_CASE("tokens with capital letters are counted, names in brackets are not", "[vocabulary]") {
  auto tokens = small;
  CHECK(Vocabulary(tokens, "small").cased_tokens() == 0);
  for (auto const* token : {"A", "##Ab", "\u00C9t", "[X]", "\u00DF"}) tokens.emplace_back(token);
  CHECK(Vocabulary(tokens, "cased").cased_tokens() == 3);
}

TEST_CASE("tokens with accents and tokens that begin words are recognised", "[vocabulary]") {
  auto tokens = small;
  CHECK(Vocabulary(tokens, "small").accented_tokens() == 0);
  for (auto const* token : {"\u00E9t", "##e\u0301", "stra\u00DFe", "\u0439"}) tokens.emplace_back(token);
  Vocabulary const vocabulary(tokens, "accents");
  CHECK(vocabulary.accented_tokens() == 3);
  auto const first = static_cast<std::int32_t>(small.size());
  CHECK(vocabulary.begins_word(first));
  CHECK(!vocabulary.begins_word(first + 1));
}

TEST_CASE("tokens without letters are recognised", "[vocabulary]") {
  auto tokens = small;
  for (auto const* token : {"12", "##3", "\u2264", "\u0664", "##x9", "##\u093F"}) tokens.emplace_back(token);
  Vocabulary const vocabulary(tokens, "numbers");
  auto const has_letter = [&](char const* token) { return vocabulary.has_letter(*vocabulary.find(token)); };
  for (auto const* token : {",", "12", "##3", "\u2264", "\u0664"}) CHECK(!has_letter(token));
  for (auto const* token : {"[UNK]", "a", "##b", "\u4E2D", "##\u00F8", "##x9", "##\u093F"}) CHECK(has_letter(token));
}

TEST_CASE("words that are too long, unknown tokens and bytes that are not UTF-8 are counted", "[wordpiece]") {
  Vocabulary const vocabulary(small, "small");
  TokenizerTables const tables(vocabulary);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const in(std::tmpfile(), &std::fclose),
      out(std::tmpfile(), &std::fclose);
  std::string const text = "a x\n" + std::string(101, 'a') + " b\n\xFF a\nb " + std::string(150, 'B') + "\nb\xC3\n";
  std::fwrite(text.data(), 1, text.size(), in.get());
  std::rewind(in.get());
  auto const count = tokenize_lines(tables, in.get(), out.get(), 2);
  CHECK(count.lines == 5);
  CHECK(count.unknown == 3);
  CHECK(count.bytes == static_cast<std::int64_t>(text.size()));
  CHECK(count.overlong_bytes == 251);
  CHECK(count.invalid_lines == 2);
  CHECK(count.first_invalid == 3);
}

TEST_CASE("lines keep their order on any number of threads", "[wordpiece]") {
  Vocabulary const vocabulary(small, "small");
  TokenizerTables const tables(vocabulary);
  auto const run = [&](std::string const& text, int threads) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const in(std::tmpfile(), &std::fclose),
        out(std::tmpfile(), &std::fclose);
    std::fwrite(text.data(), 1, text.size(), in.get());
    std::rewind(in.get());
    auto const count = tokenize_lines(tables, in.get(), out.get(), threads);
    std::string result(static_cast<std::size_t>(std::ftell(out.get())), ' ');
    std::rewind(out.get());
    CHECK(std::fread(result.data(), 1, result.size(), out.get()) == result.size());
    return std::pair(result, count.lines);
  };
  CHECK(run("a b\n\nunaffable\nb", 1) == std::pair(std::string("9 10\n\n5 6 7\n10\n"), std::int64_t{4}));
  CHECK(run("", 2) == std::pair(std::string(), std::int64_t{0}));
  CHECK(run("a\rb\r\na\r\r\nb\r\ra", 1) == std::pair(std::string("9\n10\n9\n10\n\n9\n"), std::int64_t{6}));
  std::string returns;
  for (int i = 0; i < 600000; ++i) returns += "a b\r";
  CHECK(run(returns, 2).second == 600000);
  std::string text;
  for (int i = 0; i < 300000; ++i) text += i % 7 == 0 ? "a, b\n" : "unaffable b\n";
  text += std::string(3 << 20, 'a');
  CHECK(run(text, 1) == run(text, 4));
}
