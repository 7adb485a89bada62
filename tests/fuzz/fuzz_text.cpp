// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Input: a vocabulary, one token a line up to a zero byte, then a text, plain or gzip-compressed. The pieces of the
/// vocabulary split the words of the text. The text is also tokenized with a fixed vocabulary. Every id must be in the
/// vocabulary, and every sentence must have a length above zero.
#include "core/system/error.hpp"
#include "input/text/sentences.hpp"
#include "input/text/text_reader.hpp"
#include "input/text/wordpiece.hpp"
#include "tests/fuzz/target.hpp"

using namespace bellwether;

namespace {

void read_text(input::TokenizerTables const& tables, std::string const& path, input::WrittenSpecials written) {
  input::Tokenizer tokenizer(tables, written);
  input::TextReader reader({path});
  std::vector<std::int32_t> ids;
  for (input::TextBlock block; reader.next(block);)
    for (auto const& which : block.lines) {
      auto const line = block.line(which);
      fuzz::must(line.size() <= input::TextReader::longest_line, "lines have at most longest_line bytes");
      tokenizer.encode(line, ids);
      for (std::size_t at = 0; at < line.size();) {
        auto const end = input::sentence_end(line, at);
        fuzz::must(end > at && end <= line.size(), "a sentence ends after its beginning");
        at = end;
      }
      for (auto const id : ids) fuzz::must(id >= 0 && id < tables.vocabulary().size(), "ids are in the vocabulary");
      ids.clear();
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static input::Vocabulary const known(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b", "ab", "##a", ".", "\u4e00"}, "known");
  static input::TokenizerTables const tables(known);  // covers all characters: takes a second to build
  fuzz::Bytes bytes(data, size);
  auto const vocabulary_file = fuzz::in_file("vocab.txt", bytes.up_to('\0'));
  auto const text = bytes.rest();
  try {
    auto const vocabulary = input::Vocabulary::read(vocabulary_file);
    input::PieceTrie const trie(vocabulary);
    std::vector<std::int32_t> ids;
    fuzz::Bytes words(data, size);
    while (!words.empty()) trie.split(words.up_to(' '), ids);
    for (auto const id : ids) fuzz::must(id >= 0 && id < vocabulary.size(), "pieces are in the vocabulary");
  } catch (InputError const&) {
  }
  auto const path = fuzz::in_file("text", text);
  for (auto const written : {input::WrittenSpecials::tokens, input::WrittenSpecials::characters}) try {
      read_text(tables, path, written);
    } catch (InputError const&) {
    }
  return 0;
}
