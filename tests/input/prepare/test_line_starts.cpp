// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/line_starts.hpp"
#include "input/prepare/segment_worker.hpp"
#include "input/text/unicode.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <vector>

using namespace bellwether::input;

namespace {

LineStarts counted(std::vector<std::string> const& lines) {
  LineStarts starts;
  std::string before;
  for (std::size_t i = 0; i < lines.size(); before = lines[i++])
    starts.add(lines[i], before, {.file = 0, .line = static_cast<std::int64_t>(i) + 1});
  return starts;
}

/// Returns sentences of 4 to 25 words of 2 to 9 letters.
std::vector<std::string> prose(int sentences) {
  std::mt19937 random(3);
  std::vector<std::string> texts;
  for (int s = 0; s < sentences; ++s) {
    std::string text;
    for (auto words = 4 + random() % 22; words > 0; --words) {
      if (!text.empty()) text += ' ';
      text.append(2 + random() % 8, static_cast<char>('a' + random() % 26));
    }
    text[0] = static_cast<char>(std::toupper(text[0]));
    texts.push_back(text + ".");
  }
  return texts;
}

/// Breaks the text of all sentences before `width` characters.
std::vector<std::string> wrapped(std::vector<std::string> const& sentences, std::size_t width) {
  std::string text;
  for (auto const& sentence : sentences) text += sentence + ' ';
  std::vector<std::string> lines;
  while (text.size() > width) {
    auto const end = text.rfind(' ', width);
    lines.push_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  return lines;
}

/// Returns the lines with small letters alone.
std::vector<std::string> lowered(std::vector<std::string> lines) {
  for (auto& line : lines)
    std::ranges::transform(line, line.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lines;
}

/// Returns the lines with other letters in place of ASCII ones. first: the one for a; capital: the one for A.
std::vector<std::string> in_script(std::vector<std::string> lines, char32_t first, char32_t capital) {
  for (auto& line : lines) {
    std::string written;
    for (char const c : line)
      if (c >= 'a' && c <= 'z')
        append_utf8(written, first + static_cast<char32_t>(c - 'a'));
      else if (c >= 'A' && c <= 'Z')
        append_utf8(written, capital + static_cast<char32_t>(c - 'A'));
      else
        written += c;
    line = written;
  }
  return lines;
}

/// Returns the lines without full stops at their ends.
std::vector<std::string> unmarked(std::vector<std::string> lines) {
  for (auto& line : lines)
    if (line.ends_with('.')) line.pop_back();
  return lines;
}

std::vector<std::string> quoted(std::vector<std::string> lines) {
  for (auto& line : lines) line.insert(0, "> ");
  return lines;
}

struct Script {
  char32_t first, capital;
};
constexpr Script scripts[] = {{0x430, 0x410}, {0x3B1, 0x391}, {0x5D0, 0x5D0}};  // Cyrillic, Greek, Hebrew

}  // namespace

TEST_CASE("text that is wrapped at a fixed width is recognised", "[text]") {
  auto const sentences = prose(300);
  for (std::size_t const width : {40U, 72U, 80U, 120U}) CHECK(counted(wrapped(sentences, width)).are_wrapped());
  auto lines = wrapped(sentences, 72);
  for (auto& line : lines) line = "    " + line + " \t";
  CHECK(counted(lines).are_wrapped());
  // Shorter texts say too little.
  lines.resize(LineStarts::few - 1);
  CHECK(!counted(lines).are_wrapped());
}

TEST_CASE("wrapped text is recognised in other scripts, and without capitals", "[text]") {
  auto const lines = wrapped(prose(300), 72);
  CHECK(counted(lowered(lines)).are_wrapped());
  for (auto const& [first, capital] : scripts) {
    CHECK(counted(in_script(lines, first, capital)).are_wrapped());
    CHECK(counted(in_script(lowered(lines), first, capital)).are_wrapped());
  }
  // Chinese has neither capitals nor blanks.
  std::mt19937 random(9);
  std::vector<std::string> chinese(200);
  for (auto& line : chinese)
    for (int characters = 40; characters > 0; --characters) append_utf8(line, 0x4E00 + random() % 3000);
  CHECK(counted(chinese).are_wrapped());
}

TEST_CASE("sentences on lines of their own are no wrapped text in any script", "[text]") {
  auto const sentences = prose(600);
  for (auto const& [first, capital] : scripts) {
    auto const lines = in_script(sentences, first, capital);
    CHECK(!counted(lines).are_wrapped());
    CHECK(!counted(in_script(lowered(sentences), first, capital)).are_wrapped());
    CHECK(!counted(unmarked(in_script(lowered(sentences), first, capital))).are_wrapped());
  }
  CHECK(counted(unmarked(lowered(sentences))).share_in_sentence() > 0.4);
  CHECK(!counted(unmarked(lowered(sentences))).are_wrapped());
  std::mt19937 random(9);
  std::vector<std::string> chinese(600);
  for (auto& line : chinese)
    for (auto characters = 10 + random() % 50; characters > 0; --characters)
      append_utf8(line, 0x4E00 + random() % 3000);
  CHECK(counted(chinese).share_in_sentence() > 0.4);
  CHECK(!counted(chinese).are_wrapped());
  for (auto& line : chinese) line += "\u3002";
  CHECK(counted(chinese).share_in_sentence() == 0);
}

TEST_CASE("records of one length and addresses are no wrapped text", "[text]") {
  std::mt19937 random(11);
  std::vector<std::string> records, addresses;
  for (int i = 0; i < 200; ++i) {
    records.push_back("worker " + std::to_string(100 + random() % 900) + " has taken its rows of a shard");
    addresses.push_back("https://example.org/pages/of/one/length/" + std::to_string(1000 + random() % 100));
  }
  CHECK(counted(records).share_in_sentence() > 0.4);
  CHECK(!counted(records).are_wrapped());
  CHECK(!counted(addresses).are_wrapped());
}

TEST_CASE("quoted mail is recognised without its marks", "[text]") {
  auto const lines = wrapped(prose(300), 72);
  CHECK(!counted(lines).are_quoted());
  for (auto const& mail : {quoted(lines), quoted(quoted(lowered(lines)))}) {
    auto const starts = counted(mail);
    CHECK(starts.are_quoted());
    CHECK(
        wrapped_warning(starts, "a.txt:2")
            .ends_with(" % of the lines begin in the middle of a sentence, such as a.txt:2: the text is quoted mail, "
                       "wrapped at a fixed width; remove the marks, as sed -E 's/^([ \\t]*>)+ ?//' FILE does, and add "
                       "--wrapped, which joins the lines of a paragraph"));
  }
  CHECK(!counted(quoted(prose(300))).are_wrapped());
  // A reply does not continue what it answers.
  CHECK(counted({"> This is a line of many characters", "line"}).share_in_sentence() == 0);
  CHECK(counted({"> This is a line of many characters", "> line"}).share_in_sentence() == 0.5);
}

TEST_CASE("lines of other texts are not taken for wrapped ones", "[text]") {
  auto const sentences = prose(300);
  CHECK(!counted({}).are_wrapped());
  CHECK(!counted(sentences).are_wrapped());
  CHECK(counted(sentences).share_in_sentence() == 0);
  CHECK(!counted(lowered(sentences)).are_wrapped());
  // Messages of a chat: no punctuation, few capital letters, all lengths.
  auto chat = lowered(sentences);
  for (std::size_t i = 0; i < chat.size(); ++i) {
    chat[i].pop_back();
    if (i % 10 == 0) chat[i][0] = 'W';
  }
  CHECK(counted(chat).share_in_sentence() > 0.4);
  CHECK(!counted(chat).are_wrapped());
  // Search queries: almost all in small letters.
  std::mt19937 random(5);
  std::vector<std::string> queries;
  for (int i = 0; i < 300; ++i) {
    std::string query(i % 10 == 0 ? "Berlin" : "berlin");
    for (auto words = 3 + random() % 7; words > 0; --words) query += ' ' + std::string(3 + random() % 5, 'q');
    queries.push_back(query);
  }
  CHECK(counted(queries).share_in_sentence() > 0.4);
  CHECK(!counted(queries).are_wrapped());
  // A list of words.
  std::vector<std::string> words(200, "words");
  for (std::size_t i = 0; i < words.size(); i += 10) words[i] = "Berlin";
  CHECK(!counted(words).are_wrapped());
  // Parts of one line that the reader has cut.
  std::vector<std::string> parts(100, std::string(5000, 'x'));
  for (std::size_t i = 0; i < parts.size(); i += 10) parts[i][0] = 'X';
  CHECK(!counted(parts).are_wrapped());
}

TEST_CASE("a line is in a sentence unless the line before ends one", "[text]") {
  std::string const before = "This is a line of many characters";
  auto const share_after = [&](std::string const& end) { return counted({before + end, "line"}).share_in_sentence(); };
  for (auto const* end : {"", ",", " and", ")", "\"", " (as said)", " -"}) CHECK(share_after(end) == 0.5);
  for (auto const* end : {".", "!", "?", ":", ";", "\u2026", ".\"", "!')", ".\u201D", "?\u00BB", ". ", "\u3002\u300D",
                          "\u061F", "\u0964", ".\u201C"})
    CHECK(share_after(end) == 0);
  CHECK(counted({before, "Line"}).share_in_sentence() == 0);
  CHECK(counted({before, "12 lines"}).share_in_sentence() == 0);
}

TEST_CASE("counts of blocks add up, and the first line in a sentence is kept", "[text]") {
  auto const lines = wrapped(prose(300), 72);
  auto const half = static_cast<std::ptrdiff_t>(lines.size() / 2);
  auto sum = counted({"One.", "Two."});
  sum += counted({lines.begin(), lines.begin() + half});
  auto const first = sum.first_in_sentence().line;
  CHECK(first > 0);
  sum += counted({"A line of more than 24 characters", "goes on"});
  CHECK(sum.first_in_sentence().line == first);
  CHECK(sum.are_wrapped());
  auto const text = wrapped_warning(sum, "a.txt:2");
  CHECK(text.ends_with(
      " % of the lines begin in the middle of a sentence, such as a.txt:2: the text is wrapped at a fixed width; add "
      "--wrapped, which joins the lines of a paragraph"));
  CHECK(wrapped_warning(counted({"One.", "Two."}), "a.txt:1").empty());
}

TEST_CASE("a sentence does not continue from one document into the next", "[text]") {
  Vocabulary const vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}, "small");
  TokenizerTables const tables(vocabulary);
  TextBlock block{.text = "A line of more than 24 characters\nends here\n", .lines = {}};
  auto const feed = block.text.find('\n');
  block.lines = {{.begin = 0, .size = feed, .starts_document = true, .place = {0, 1}},
                 {.begin = feed + 1, .size = 9, .starts_document = false, .place = {0, 2}}};
  CHECK(SegmentWorker(tables, false)(block).starts.share_in_sentence() == 0.5);
  CHECK(SegmentWorker(tables, false)(block).starts.first_in_sentence().line == 2);
  CHECK(SegmentWorker(tables, true)(block).starts.share_in_sentence() == 0);
  block.lines[1].starts_document = true;
  CHECK(SegmentWorker(tables, false)(block).starts.share_in_sentence() == 0);
}
