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

/// Where something stands in a deck, counted from 1. Line 0: not in the deck.
struct Place {
  int line = 0;
  int column = 0;
  bool operator==(Place const&) const = default;
};

/// One fault of a deck or an override. `where` sorts the faults; overrides come after the deck, in their own order.
struct Fault {
  Place where;
  int override_index = -1;  ///< -1: in the deck itself
  std::string text;         ///< complete line
};

/// An odd character and where it stands.
struct OddPlace {
  char32_t code = 0;
  Oddity kind = Oddity::blank;
  Place place;
};

/// A deck as written: what the parser saw, with the place of everything, nothing converted and nothing dropped.
struct TreeNode {
  enum class Kind { null, scalar, sequence, map };
  struct Entry;
  Kind kind = Kind::null;
  Place place;
  std::string text;             ///< of a scalar; of a null the word that says so, if any
  bool quoted = false;          ///< a scalar in quotes, or a block of text
  bool blanks_around = false;   ///< a scalar of an override with blanks before or behind it, which `text` leaves out
  std::vector<OddPlace> odd;    ///< of a scalar without quotes, the first few
  std::vector<TreeNode> items;  ///< of a sequence
  std::vector<Entry> entries;   ///< of a map, in order, repeated keys included

  /// The first entry with this key, or nullptr.
  Entry const* find(std::string_view key) const;
};
struct TreeNode::Entry {
  std::string key;
  Place place;
  TreeNode value;
  std::vector<OddPlace> odd = {};  ///< of a key without quotes
};

/// Why a text is no deck; the message does not name the file.
struct SyntaxFault {
  Place place;
  std::string what;  ///< "what; what is allowed"
};

/// Reads one YAML document without interpreting scalars. Anchors, aliases, tags, keys that are not plain text, second
/// documents, control characters and text that is not UTF-8 are faults: a deck says everything where it stands. A byte
/// order mark at the beginning is skipped.
/// Repeated keys stay in the tree. Faults go to `faults`; the tree holds what could be read.
TreeNode parse_tree(std::string_view text, std::vector<SyntaxFault>& faults);

}  // namespace bellwether::input
