// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_tree.hpp"

#include "input/deck/deck_characters.hpp"
#include "input/deck/deck_syntax.hpp"
#include "input/text/text_kind.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>

namespace bellwether::input {
namespace {

/// Builds the tree from the parser's events. yaml-cpp's own nodes silently resolve aliases and merge keys and lose the
/// places of keys; events do neither.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, TextPlaces const& places, std::vector<SyntaxFault>& faults)
      : text_(text), places_(places), faults_(faults) {}
  TreeNode take() { return std::move(root_); }

  void OnDocumentStart(YAML::Mark const&) override {}
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    TreeNode node = node_at(TreeNode::Kind::null, mark);
    node.text = null_word_at(byte_of(mark));
    add(std::move(node));
  }
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t) override {
    faults_.push_back({place_of(mark), "an alias; write the value out where it is used"});
    add(node_at(TreeNode::Kind::null, mark));
  }
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    TreeNode node = node_at(TreeNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    if (!node.quoted) node.odd = odd_places(value, text_, byte_of(mark), places_);
    add(std::move(node));
  }
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    open_.push_back({node_at(TreeNode::Kind::sequence, mark)});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    open_.push_back({node_at(TreeNode::Kind::map, mark)});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    TreeNode node;
    std::string key = {};
    Place key_place = {};
    std::vector<OddPlace> key_odd = {};
    bool has_key = false;
    bool key_is_word = true;
  };

  std::size_t byte_of(YAML::Mark const& mark) const { return places_.byte(mark.line, mark.column); }
  Place place_of(YAML::Mark const& mark) const { return places_.at(byte_of(mark)); }
  TreeNode node_at(TreeNode::Kind kind, YAML::Mark const& mark) const {
    TreeNode node;
    node.kind = kind;
    node.place = place_of(mark);
    return node;
  }
  /// Returns the word that is written for null, for messages; empty if nothing is written.
  std::string null_word_at(std::size_t byte) const {
    for (std::string_view const word : {"~", "null", "Null", "NULL"})
      if (auto const end = byte + word.size(); end <= text_.size() && text_.substr(byte, word.size()) == word)
        if (end == text_.size() || std::string_view(" \t\r\n,]}").find(text_[end]) != std::string_view::npos)
          return std::string(word);
    return "";
  }
  void refuse_anchor(YAML::Mark const& mark, YAML::anchor_t anchor) {
    if (anchor != 0) faults_.push_back({place_of(mark), "an anchor; write the value out where it is used"});
  }
  void refuse_tag(YAML::Mark const& mark, std::string const& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      faults_.push_back({place_of(mark), "a type tag; delete it: the key defines the type"});
  }
  void close() {
    TreeNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }
  void add(TreeNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == TreeNode::Kind::sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      parent.key_is_word = node.kind == TreeNode::Kind::scalar;
      if (!parent.key_is_word) faults_.push_back({node.place, "a key that is not a word; keys are plain words"});
      parent.key = node.text;
      parent.key_place = node.place;
      parent.key_odd = std::move(node.odd);
      parent.has_key = true;
    } else {
      if (parent.key_is_word)
        parent.node.entries.push_back(
            {std::move(parent.key), parent.key_place, std::move(node), std::move(parent.key_odd)});
      parent.has_key = false;
    }
  }

  std::string_view text_;
  TextPlaces const& places_;
  std::vector<SyntaxFault>& faults_;
  std::vector<Open> open_;
  TreeNode root_;
};

}  // namespace

TreeNode::Entry const* TreeNode::find(std::string_view key) const {
  for (auto const& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

TreeNode parse_tree(std::string_view text, std::vector<SyntaxFault>& faults) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (auto const format = format_name(text); !format.empty()) {
    faults.push_back({{1, 1}, std::string(format) + "; allowed: UTF-8, not compressed"});
    return {};
  }
  if (!readable(text, faults)) return {};
  TextPlaces const places(text);
  TreeBuilder builder(text, places, faults);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return {};
    TreeNode root = builder.take();
    if (auto const quote = unclosed_quote(text, places)) {
      faults.push_back({*quote, "the quote that opens here is never closed"});
      return {};
    }
    TreeBuilder second(text, places, faults);
    if (parser.HandleNextDocument(second)) {
      Place const place = second.take().place;
      faults.push_back({place.line > 0 ? place : Place{1, 1}, "a second document; allowed: one per file"});
    }
    return root;
  } catch (YAML::Exception const& error) {
    auto const place = error.mark.is_null() ? Place{1, 1} : places.at(places.byte(error.mark.line, error.mark.column));
    // For brackets and quotes that are never closed, the parser reports the beginning or the end.
    bool const unclosed =
        error.msg.find("not found") != std::string::npos || error.msg.find("EOF") != std::string::npos;
    auto const cause = likely_cause(text, places, place, unclosed);
    faults.push_back({place, "not YAML: " + error.msg + (cause.empty() ? syntax_hint(text, place) : cause)});
    return {};
  }
}

}  // namespace bellwether::input
