// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/odd_characters.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bellwether::input {

/// A position in a deck, counted from 1. Line 0 means "not in the deck".
struct Place {
  int line = 0;
  int column = 0;
  bool operator==(Place const&) const = default;
};

/// One fault of a deck or an override. Faults are sorted by `where`; faults of overrides follow those of the deck, in
/// order of the overrides.
struct Fault {
  Place where;
  int override_index = -1;  ///< -1: in the deck itself
  std::string text;         ///< complete line
};

/// An odd character and its place.
struct OddPlace {
  char32_t code = 0;
  Oddity kind = Oddity::blank;
  Place place;
};

/// A deck as written: the parser's nodes with their places. No scalar is converted and nothing is dropped.
struct TreeNode {
  enum class Kind { null, scalar, sequence, map };
  struct Entry;
  Kind kind = Kind::null;
  Place place;
  std::string text;             ///< of a scalar; for a null, the word that was written, if any
  bool quoted = false;          ///< the scalar is in quotes or is a block of text
  bool blanks_around = false;   ///< an override's scalar has blanks before or after it, which `text` omits
  std::vector<OddPlace> odd;    ///< first odd characters of an unquoted scalar
  std::vector<TreeNode> items;  ///< elements of a sequence
  std::vector<Entry> entries;   ///< entries of a map, in order, repeated keys included

  /// Returns the first entry with this key, or nullptr.
  Entry const* find(std::string_view key) const;
};
struct TreeNode::Entry {
  std::string key;
  Place place;
  TreeNode value;
  std::vector<OddPlace> odd = {};  ///< odd characters of an unquoted key
};

/// A reason why a text is not a valid deck. The message does not name the file.
struct SyntaxFault {
  Place place;
  std::string what;  ///< "what; what is allowed"
};

/// Parses one YAML document without converting scalars. Every value must be readable where it is written: anchors,
/// aliases, tags and further documents are faults. So are keys that are not plain text, control characters and bytes
/// that are not UTF-8. Skips a byte order mark at the beginning. Keeps repeated keys in the tree. Adds faults to
/// `faults` and returns the part that could be read.
TreeNode parse_tree(std::string_view text, std::vector<SyntaxFault>& faults);

}  // namespace bellwether::input
