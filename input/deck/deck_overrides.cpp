// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_overrides.hpp"

#include "input/deck/deck_characters.hpp"

#include <algorithm>
#include <cstddef>

namespace bellwether::input {
namespace {

constexpr std::string_view blanks = " \t\n\r";
constexpr char const* quoting =
    "a value that begins with [, {, ' or \" is read as YAML; a text in quotes may hold any characters";

bool has_comment(std::string_view text) { return text.find(" #") != text.npos || text.find("\t#") != text.npos; }

/// Parses the whole text as one node. Reports text that YAML would ignore: after the node on its line, and in comments.
TreeNode parse_whole(std::string_view text, std::vector<SyntaxFault>& faults) {
  std::string const comment = has_comment(text) ? "; # after a blank begins a comment" : "";
  std::vector<SyntaxFault> own;
  TreeNode node = parse_tree(text, own);
  for (auto const& fault : own)
    faults.push_back({fault.place, fault.what.starts_with("not YAML") ? fault.what + comment + "; " + quoting
                                   : fault.what.starts_with("a second document")
                                       ? std::string("more than one value; ") + quoting
                                       : fault.what});
  if (!own.empty()) return node;
  // Parse again in brackets on one line: a comment then hides the closing bracket, and text after the node is an error.
  std::string line = "[" + std::string(text) + "]";
  std::ranges::replace(line, '\n', ' ');
  TreeNode const list = parse_tree(line, own);
  if (!own.empty() || list.kind != TreeNode::Kind::sequence || list.items.size() != 1)
    faults.push_back({{1, 1}, "YAML would ignore the end of the value" + comment + "; " + quoting});
  return node;
}

}  // namespace

TreeNode parse_override_value(std::string_view written, std::vector<SyntaxFault>& faults) {
  std::vector<SyntaxFault> characters;
  if (!readable(written, characters)) {
    for (auto const& [place, what] : characters)
      faults.push_back({place, "character " + std::to_string(place.column) + " of the value" +
                                   (place.line > 1 ? ", line " + std::to_string(place.line) : "") + ": " + what});
    return {};
  }
  TextPlaces const places(written);
  auto const first = written.find_first_not_of(blanks);
  if (first == written.npos) return {};
  auto const text = written.substr(first, written.find_last_not_of(blanks) + 1 - first);
  if (std::string_view("[{'\"").find(text[0]) != std::string_view::npos) return parse_whole(text, faults);
  if (text.find('\n') != text.npos)
    faults.push_back({{1, 1}, "a line break in the value; write \"\\n\" in double quotes"});
  TreeNode node;
  node.kind = TreeNode::Kind::scalar;
  node.place = {1, 1};
  node.text = text;
  node.blanks_around = text.size() != written.size();
  node.odd = odd_places(text, written, first, places);
  return node;
}

std::vector<Override> parse_overrides(std::vector<std::string> const& written, std::vector<Fault>& faults) {
  std::vector<Override> overrides;
  for (auto const& text : written) {
    Override change{text, text.substr(0, text.find('=')), {}, static_cast<int>(overrides.size())};
    auto const dot = change.key.find('.');
    if (change.key.size() == text.size() || dot == 0 || dot == std::string::npos || dot + 1 == change.key.size()) {
      auto const odd = find_odd(text);
      faults.push_back(override_fault(
          change, "not an override; allowed: section.key=value" +
                      (odd ? "; it holds " + character_name(odd->code) + ": " + odd_advice(odd->code) : "")));
      change.key.clear();
    } else {
      std::vector<SyntaxFault> syntax;
      change.value = parse_override_value(std::string_view(text).substr(change.key.size() + 1), syntax);
      for (auto const& fault : syntax) faults.push_back(override_fault(change, fault.what));
      change.faulty = !syntax.empty();
    }
    overrides.push_back(std::move(change));
  }
  // A malformed override has no key, so it can be neither applied nor checked.
  std::erase_if(overrides, [](Override const& change) { return change.key.empty(); });
  return overrides;
}

}  // namespace bellwether::input
