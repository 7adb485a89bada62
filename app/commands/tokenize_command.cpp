// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/format/readable_numbers.hpp"
#include "core/system/error.hpp"
#include "input/shards/corpus_facts.hpp"
#include "input/text/odd_characters.hpp"
#include "input/text/token_lines.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bellwether::app {
namespace {

struct TokenizeOptions {
  std::string vocabulary;
  bool strict = false;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
};

int tokenize(TokenizeOptions const& options) {
  auto const vocabulary = input::Vocabulary::read(options.vocabulary);
  input::TokenizerTables const tables(vocabulary);
  auto const count = input::tokenize_lines(tables, stdin, stdout, options.threads);
  auto texts = count.markup;
  if (count.invalid_lines > 0)
    texts.push_back(counted(count.invalid_lines, "line") + (count.invalid_lines == 1 ? " holds" : " hold") +
                    " bytes that are not UTF-8, which were left out; the first is line " +
                    std::to_string(count.first_invalid) + " of standard input");
  input::CorpusFacts const facts{.tokens = count.tokens,
                                 .unknown = count.unknown,
                                 .bytes = count.bytes,
                                 .overlong = count.overlong_bytes,
                                 .vocabulary = vocabulary.size(),
                                 .cased = vocabulary.cased_tokens(),
                                 .accented = vocabulary.accented_tokens(),
                                 .words = count.words};
  for (auto const& text : input::corpus_warnings(facts)) texts.push_back(text);
  if (options.strict && !texts.empty()) throw InputError(texts);
  for (auto const& text : texts) std::cerr << "warning: " << input::with_codes(text) << '\n';
  return 0;
}

}  // namespace

void add_tokenize(Command program) {
  auto options = std::make_shared<TokenizeOptions>();
  auto const command = program.subcommand(
      "tokenize", "Turn lines on standard input into lines of WordPiece ids, without [CLS] and [SEP]");
  command.option("--vocab", options->vocabulary, "vocabulary, one token a line")
      .required()
      .check(paths())
      .type_name("FILE");
  command.option("--threads", options->threads, "threads to use").check(whole_numbers(1, 1024)).show_default();
  command.flag("--strict", options->strict, "treat warnings as errors");
  command.when_given([options] { return [options](Session&) { return tokenize(*options); }; });
}

}  // namespace bellwether::app
