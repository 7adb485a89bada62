// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <utf8proc.h>

#include <sstream>

namespace bellwether::input {
namespace {

constexpr std::size_t largest_deck_bytes = 1 << 20;

Place place_of(YAML::Mark const& mark) { return {mark.line + 1, mark.column + 1}; }

TreeNode node_at(TreeNode::Kind kind, YAML::Mark const& mark) {
  TreeNode node;
  node.kind = kind;
  node.place = place_of(mark);
  return node;
}

/// Builds the tree from the parser's events. yaml-cpp's own nodes resolve aliases and merge keys behind the reader's
/// back and lose the place of keys; events do neither.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::vector<SyntaxFault>& faults) : faults_(faults) {}
  TreeNode take() { return std::move(root_); }

  void OnDocumentStart(YAML::Mark const&) override {}
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(node_at(TreeNode::Kind::null, mark));
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
    bool has_key = false;
    bool key_is_word = true;
  };

  void refuse_anchor(YAML::Mark const& mark, YAML::anchor_t anchor) {
    if (anchor != 0) faults_.push_back({place_of(mark), "an anchor; write the value out where it is used"});
  }
  void refuse_tag(YAML::Mark const& mark, std::string const& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      faults_.push_back({place_of(mark), "a type tag; types follow from the key"});
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
      parent.has_key = true;
    } else {
      if (parent.key_is_word) parent.node.entries.push_back({std::move(parent.key), parent.key_place, std::move(node)});
      parent.has_key = false;
    }
  }

  std::vector<SyntaxFault>& faults_;
  std::vector<Open> open_;
  TreeNode root_;
};

/// Bytes that YAML gives a meaning of their own or that end yaml-cpp's reading early (0x04 counts as end of file).
bool readable(std::string_view text, std::vector<SyntaxFault>& faults) {
  if (text.size() > largest_deck_bytes) {
    faults.push_back({{1, 1}, "more than 1 MiB; a short text"});
    return false;
  }
  Place place{1, 1};
  auto const* bytes = reinterpret_cast<utf8proc_uint8_t const*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    auto const length = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (length <= 0) {
      faults.push_back({place, "a byte that is not UTF-8; text in UTF-8"});
      return false;
    }
    bool const control = (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7F && code < 0xA0);
    if (control) {
      faults.push_back({place, "control character " + std::to_string(code) + "; plain text"});
      return false;
    }
    place = code == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
    at += static_cast<std::size_t>(length);
  }
  return true;
}

}  // namespace

TreeNode::Entry const* TreeNode::find(std::string_view key) const {
  for (auto const& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

TreeNode parse_tree(std::string_view text, std::vector<SyntaxFault>& faults) {
  if (!readable(text, faults)) return {};
  TreeBuilder builder(faults);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return {};
    TreeNode root = builder.take();
    TreeBuilder second(faults);
    if (parser.HandleNextDocument(second)) {
      Place const place = second.take().place;
      faults.push_back({place.line > 0 ? place : Place{1, 1}, "a second document; one a file"});
    }
    return root;
  } catch (YAML::Exception const& error) {
    faults.push_back({error.mark.is_null() ? Place{1, 1} : place_of(error.mark), "not YAML: " + error.msg});
    return {};
  }
}

}  // namespace bellwether::input
