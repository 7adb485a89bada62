// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/files/wait_for_bytes.hpp"

#include <cstddef>
#include <string>

namespace bellwether::input {

constexpr std::size_t largest_document = std::size_t{1} << 20;  // maximum bytes of a deck or another YAML file

/// A YAML file that the command line names.
struct Document {
  std::string name;    ///< result of document_name(), for messages
  std::string text;    ///< cut after largest_document, so that an endless input is rejected by its size
  std::string folder;  ///< absolute; base of relative paths in the text
};

/// Returns "standard input" for `-`, `/dev/stdin` and every other path to descriptor 0; otherwise the path.
std::string document_name(std::string const& path);

/// Reads a file, or a pipe that the program inherited: `-`, `/dev/stdin`, `/dev/fd/63`. Document::folder is the file's
/// folder; for a descriptor it is the working directory.
/// `kind`: "a deck". `poll`: ends a wait for bytes of a pipe or terminal by throwing. \throws InputError, "x.yaml:
/// cannot be read (why); a deck is a YAML file".
Document read_document(std::string const& path, std::string const& kind, WaitPoll const& poll = {});

}  // namespace bellwether::input
