// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "input/token_lines.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

namespace bellwether::app {
namespace {

struct TokenizeOptions {
  std::string vocabulary;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
};

int tokenize(TokenizeOptions const& options) {
  auto const vocabulary = input::Vocabulary::read(options.vocabulary);
  input::TokenizerTables const tables(vocabulary);
  input::tokenize_lines(tables, stdin, stdout, options.threads);
  return 0;
}

}  // namespace

void add_tokenize(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = program.add_subcommand(
      "tokenize", "Turn lines on standard input into lines of WordPiece ids, without [CLS] and [SEP]");
  command->add_option("--vocab", options->vocabulary, "vocabulary, one token a line")->required()->type_name("FILE");
  command->add_option("--threads", options->threads, "threads to use")
      ->check(whole_numbers(1, 1024))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options](Session&) { return tokenize(*options); }; });
}

}  // namespace bellwether::app
