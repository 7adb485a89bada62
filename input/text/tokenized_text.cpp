// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/tokenized_text.hpp"

#include "input/text/text_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace bellwether::input {
namespace {

/// A word, and whether it stands first on its line.
struct Word {
  std::string_view text;
  bool first;
};

bool begins_beyond_ascii(std::string_view text) { return !text.empty() && static_cast<unsigned char>(text[0]) >= 0x80; }

/// Returns true if a letter in small case, a digit or a character beyond ASCII begins `text`.
bool continues_word(std::string_view text) {
  if (text.empty()) return false;
  char const c = text[0];
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || begins_beyond_ascii(text);
}

std::size_t is_unknown(Word const& word) {
  return word.text == "<unk>" || word.text == "<UNK>" || word.text == "[UNK]" ? 1 : 0;
}

/// `wi@@`. Not `@@ -1,2 +3,4 @@` of patches, `@@count` of Ruby, `@@NAME@@` of templates.
std::size_t is_split(Word const& word) {
  auto const text = word.text;
  return text.size() > 2 && text.ends_with("@@") && text[text.size() - 3] != '@' && text[0] != '@' ? 1 : 0;
}

/// `##ing`. Not `## Heading` of Markdown, nor comments `##text`, which begin lines.
std::size_t is_piece(Word const& word) {
  return !word.first && word.text.starts_with("##") && continues_word(word.text.substr(2)) ? 1 : 0;
}

std::size_t is_joined(Word const& word) {
  constexpr std::string_view marks[] = {"@-@", "@,@", "@.@", "@/@"};
  return static_cast<std::size_t>(std::ranges::count(marks, word.text));
}

/// Counts places where `mark` stands before something that it can begin.
template <class Begins>
std::size_t count_marks(std::string_view text, std::string_view mark, Begins const& begins) {
  std::size_t count = 0;
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + mark.size()))
    count += begins(text.substr(at + mark.size())) ? 1 : 0;
  return count;
}

/// U+2581 before a word. Not in rows of block elements, U+2580 to U+259F, as charts have them.
std::size_t sentence_pieces(Word const& word) {
  return count_marks(word.text, "\u2581",
                     [](std::string_view rest) { return !rest.empty() && !rest.starts_with("\xE2\x96"); });
}

/// U+0120 before a word. In Maltese it is a letter, which begins far fewer words.
std::size_t byte_pieces(Word const& word) {
  return count_marks(word.text, "\u0120", [](std::string_view rest) { return !rest.empty(); });
}

/// A kind of marks, and what to do about it. words: the most for each mark; they are in the warning, too.
struct Kind {
  std::size_t (*count)(Word const& word);
  std::size_t words;
  char const* warning;
};

constexpr Kind kinds[] = {
    {is_split, 50,
     "holds parts of words that end in @@, as subword-nmt writes them, for more than 1 in 50 words: they become words "
     "to train on; join them: sed -E 's/@@( |$)//g' FILE"},
    {is_piece, 20,
     "holds parts of words that begin with ##, as WordPiece writes them, for more than 1 in 20 words: they become "
     "words to train on; join them: sed 's/ ##//g' FILE"},
    {sentence_pieces, 10,
     "holds U+2581 in place of blanks, as SentencePiece writes it, for more than 1 in 10 words: parts of words become "
     "words to train on; decode it with the model that encoded it, as spm_decode does"},
    {byte_pieces, 4,
     "holds U+0120 in place of blanks, as byte-level BPE of GPT-2 writes it, for more than 1 in 4 words: parts of "
     "words "
     "become words to train on; decode it with the tokenizer that encoded it"},
    {is_unknown, 300,
     "holds <unk> for more than 1 in 300 words: an earlier tokenizer left these words out, and the mark becomes a word "
     "to train on; take the text that this tokenizer read, such as the raw version of WikiText"},
    {is_joined, 300,
     "holds marks such as @-@ for a hyphen, as Moses and WikiText write them, for more than 1 in 300 words: they "
     "become "
     "words to train on; undo them: sed -E 's: @([-,./])@ :\\1:g' FILE"},
};

}  // namespace

std::string token_warning(std::string_view text) {
  constexpr auto blanks = " \t";
  constexpr std::size_t few = 5;
  std::size_t words = 0, counts[std::size(kinds)] = {};
  for_each_line(text, [&](std::string_view line) {
    bool first = true;
    for (auto at = line.find_first_not_of(blanks); at != line.npos; first = false) {
      auto const end = std::min(line.find_first_of(blanks, at), line.size());
      ++words;
      for (std::size_t kind = 0; kind < std::size(kinds); ++kind)
        counts[kind] += kinds[kind].count({line.substr(at, end - at), first});
      at = line.find_first_not_of(blanks, end);
    }
  });
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind)
    if (counts[kind] >= few && counts[kind] * kinds[kind].words > words) return kinds[kind].warning;
  return "";
}

}  // namespace bellwether::input
