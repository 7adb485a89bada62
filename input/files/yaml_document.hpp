// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace bellwether::input {

constexpr std::size_t largest_document = std::size_t{1} << 20;  // bytes of a deck or another YAML file

/// A YAML file that was named on the command line.
struct Document {
  std::string name;    ///< as document_name() has it, for messages
  std::string text;    ///< cut behind largest_document, so that one that never ends is refused for its size
  std::string folder;  ///< absolute; what the text names is relative to it
};

/// "standard input" for `-`, `/dev/stdin` and every other path to descriptor 0, else the path.
std::string document_name(std::string const& path);

/// Reads a file, or a pipe that the program was started with: `-`, `/dev/stdin`, `/dev/fd/63`. The folder is the
/// file's own, and the working directory for what comes over a descriptor, which says nothing about a folder.
/// `kind`: "a deck". \throws InputError, "x.yaml: cannot be read (why); a deck is a YAML file".
Document read_document(std::string const& path, std::string const& kind);

}  // namespace bellwether::input
