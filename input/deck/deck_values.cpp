// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_values.hpp"

#include "input/deck/duration.hpp"
#include "input/deck/suggestion.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace bellwether::input {
namespace {

constexpr double largest_exact_whole = 9007199254740992.0;  // 2^53

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Quotes and shortens a value for a message. Line breaks are replaced later, in the whole message.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "'";
  std::size_t end = std::min(text.size(), longest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  out += text.substr(0, end);
  return out + (end < text.size() ? "...'" : "'");
}

std::string shown(TreeNode const& node) {
  switch (node.kind) {
    case TreeNode::Kind::null:
      return "nothing";
    case TreeNode::Kind::sequence:
      return "a list";
    case TreeNode::Kind::map:
      return "keys with values";
    case TreeNode::Kind::scalar:
      break;
  }
  return node.quoted ? "the text " + shown(node.text) + " in quotes" : shown(node.text);
}

bool null_word(TreeNode const& node) {
  return node.kind == TreeNode::Kind::null ||
         (node.kind == TreeNode::Kind::scalar && !node.quoted &&
          (node.text.empty() || node.text == "~" || node.text == "null" || node.text == "Null" || node.text == "NULL"));
}

bool plain(TreeNode const& node) { return node.kind == TreeNode::Kind::scalar && !node.quoted && !null_word(node); }

/// Matches [+-] digits [. digits] [e [+-] digits] and nothing else.
bool decimal(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  std::size_t digits = 0;
  for (; at < text.size() && digit(text[at]); ++at) ++digits;
  if (at < text.size() && text[at] == '.')
    for (++at; at < text.size() && digit(text[at]); ++at) ++digits;
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    std::size_t const first = at;
    while (at < text.size() && digit(text[at])) ++at;
    if (at == first) return false;
  }
  return at == text.size();
}

bool leading_zero(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && digit(text[1]);
}

bool non_finite_word(std::string_view text) {
  std::string word;
  for (char const c : text)
    if (c != '.' && c != '+' && c != '-') word += static_cast<char>(c | 0x20);
  return word == "inf" || word == "infinity" || word == "nan";
}

/// Reads a decimal number. Returns what is wrong with it, or an empty text.
std::string read_real(TreeNode const& node, double& value) {
  if (!plain(node)) return shown(node) + " is not a number";
  std::string_view text = node.text;
  if (non_finite_word(text)) return shown(text) + " is not finite";
  if (!decimal(text)) return shown(text) + " is not a number";
  if (leading_zero(text)) return shown(text) + " begins with 0, which some readers take for octal";
  if (text[0] == '+') text.remove_prefix(1);
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return shown(text) + (std::isinf(std::strtod(node.text.c_str(), nullptr)) ? " is not finite as a double"
                                                                              : " is too small for a double");
  if (error != std::errc() || end != text.data() + text.size()) return shown(text) + " is not a number";
  return {};
}

std::string range_fault(Field const& field, double value, std::string const& as_written) {
  bool const low = field.minimum_allowed ? value < field.minimum : value <= field.minimum;
  bool const high = field.maximum_allowed ? value > field.maximum : value >= field.maximum;
  return low || high ? shown(as_written) + " is out of range" : std::string();
}

std::string with_allowed(std::string const& what, Field const& field, ValueType type) {
  return what.empty() ? what : what + "; allowed: " + allowed_values(field, type);
}

std::string read_whole(Field const& field, TreeNode const& node, std::int64_t& value) {
  double real = 0;
  if (auto what = read_real(node, real); !what.empty()) return what;
  std::string_view text = node.text;
  if (text[0] == '+') text.remove_prefix(1);
  std::int64_t whole = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (end != text.data() + text.size()) {
    // 1e5 and 2.0 are whole numbers. A double is exact only up to 2^53.
    if (std::floor(real) != real) return shown(text) + " is not a whole number";
    if (std::abs(real) > largest_exact_whole) return shown(text) + " is out of range";
    whole = static_cast<std::int64_t>(real);
  } else if (error != std::errc()) {
    return shown(text) + " is out of range";
  }
  if (auto what = range_fault(field, static_cast<double>(whole), node.text); !what.empty()) return what;
  value = whole;
  return {};
}

std::string read_bounded_real(Field const& field, TreeNode const& node, double& value) {
  double real = 0;
  if (auto what = read_real(node, real); !what.empty()) return what;
  if (auto what = range_fault(field, real, node.text); !what.empty()) return what;
  value = real;
  return {};
}

std::string read_text(TreeNode const& node, std::string& value) {
  if (null_word(node)) return node.text.empty() ? "no value" : shown(node.text) + " means no value";
  if (node.kind != TreeNode::Kind::scalar) return shown(node) + " is not a text";
  if (node.text.empty()) return "an empty text";
  // "\0" in double quotes. The system ends a path there, so that another file would be read or made.
  if (node.text.find('\0') != std::string::npos) return shown(node.text) + " holds U+0000: delete it";
  if (node.blanks_around) return shown(node.text) + " has blanks around it; remove them or add quotes";
  for (auto odd = find_odd(node.text); odd && !node.quoted; odd = find_odd(node.text, odd->at + odd->bytes))
    if (odd->kind == Oddity::blank && node.text.substr(odd->at + odd->bytes).starts_with('#'))
      return shown(node.text) + " continues after #, which does not begin a comment there";
  value = node.text;
  return {};
}

}  // namespace

std::string shortest_number(double value) {
  if (std::floor(value) == value && std::abs(value) < 1e15) return std::to_string(static_cast<std::int64_t>(value));
  char buffer[32];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string allowed_values(Field const& field, ValueType type) {
  if (type == ValueType::truth) return "true or false";
  if (type == ValueType::text) return "a text";
  if (type == ValueType::texts) return "a list of texts";
  if (type == ValueType::optional_duration) return "a time H:MM:SS or D-HH:MM:SS from 0:00:01 to 999-23:59:59, or null";
  bool const whole = type == ValueType::whole || type == ValueType::optional_whole;
  std::string words = whole ? "a whole number" : "a number";
  bool const low = std::isfinite(field.minimum), high = std::isfinite(field.maximum);
  auto const number = [whole](double x) {
    return whole ? std::to_string(static_cast<std::int64_t>(x)) : shortest_number(x);
  };
  if (low && high && field.minimum_allowed && field.maximum_allowed) {
    words += " from " + number(field.minimum) + " to " + number(field.maximum);
  } else {
    if (low) words += (field.minimum_allowed ? " of at least " : " greater than ") + number(field.minimum);
    if (low && high) words += " and";
    if (high) words += (field.maximum_allowed ? " at most " : " less than ") + number(field.maximum);
  }
  if (!field.unit.empty()) words += " (" + std::string(field.unit) + ")";
  if (type == ValueType::optional_whole || type == ValueType::optional_real) words += ", or null";
  return words;
}

std::string allowed_choices(std::vector<std::string_view> const& names) {
  std::string words;
  for (auto const& name : names) words += (words.empty() ? "" : ", ") + std::string(name);
  return "one of " + words;
}

std::string read_value(Field const& field, TreeNode const& node, bool& value) {
  if (plain(node) && (node.text == "true" || node.text == "false")) {
    value = node.text == "true";
    return {};
  }
  return with_allowed(shown(node) + " is not a truth value", field, ValueType::truth);
}

std::string read_value(Field const& field, TreeNode const& node, std::int64_t& value) {
  return with_allowed(read_whole(field, node, value), field, ValueType::whole);
}

std::string read_value(Field const& field, TreeNode const& node, double& value) {
  return with_allowed(read_bounded_real(field, node, value), field, ValueType::real);
}

std::string read_value(Field const& field, TreeNode const& node, std::string& value) {
  return with_allowed(read_text(node, value), field, ValueType::text);
}

std::string read_value(Field const& field, TreeNode const& node, std::vector<std::string>& value) {
  std::vector<std::string> texts;
  if (node.kind == TreeNode::Kind::sequence) {
    for (auto const& item : node.items)
      if (auto what = read_text(item, texts.emplace_back()); !what.empty())
        return with_allowed(what + " in the list", field, ValueType::texts);
  } else if (auto what = read_text(node, texts.emplace_back()); !what.empty()) {
    return with_allowed(what, field, ValueType::texts);
  }
  if (field.required && texts.empty()) return with_allowed("an empty list", field, ValueType::texts);
  value = std::move(texts);
  return {};
}

std::string read_value(Field const& field, TreeNode const& node, std::optional<std::int64_t>& value) {
  if (null_word(node)) {
    value.reset();
    return {};
  }
  std::int64_t whole = 0;
  auto const what = read_whole(field, node, whole);
  if (what.empty()) value = whole;
  return with_allowed(what, field, ValueType::optional_whole);
}

std::string read_value(Field const& field, TreeNode const& node, std::optional<double>& value) {
  if (null_word(node)) {
    value.reset();
    return {};
  }
  double real = 0;
  auto const what = read_bounded_real(field, node, real);
  if (what.empty()) value = real;
  return with_allowed(what, field, ValueType::optional_real);
}

std::string read_value(Field const& field, TreeNode const& node, std::optional<std::chrono::seconds>& value) {
  if (null_word(node)) {
    value.reset();
    return {};
  }
  auto const duration = node.kind == TreeNode::Kind::scalar ? duration_of(node.text) : std::nullopt;
  if (!duration) {
    bool const formed = node.kind == TreeNode::Kind::scalar && has_duration_form(node.text);
    return with_allowed(shown(node) + (formed ? " is out of range" : " is not a time"), field,
                        ValueType::optional_duration);
  }
  value = duration;
  return {};
}

std::string read_choice(TreeNode const& node, std::vector<std::string_view> const& names, int& value) {
  if (node.kind != TreeNode::Kind::scalar || null_word(node))
    return shown(node) + " is not a word; allowed: " + allowed_choices(names);
  auto const found = std::find(names.begin(), names.end(), node.text);
  if (found == names.end())
    return "unknown value " + shown(node.text) + did_you_mean(node.text, {names.begin(), names.end()}) + "; " +
           allowed_choices(names);
  value = static_cast<int>(found - names.begin());
  return {};
}

std::string read_group_word(TreeNode const& node, std::vector<std::string> const& keys) {
  if (plain(node) && node.text == "auto") return {};
  std::string words;
  for (auto const& key : keys) words += (words.empty() ? "" : ", ") + key;
  auto const allowed = "auto or keys " + words;
  if (node.kind != TreeNode::Kind::scalar || null_word(node))
    return shown(node) + " is not a map of keys; allowed: " + allowed;
  return (node.quoted ? shown(node) + " is not a word" : "unknown value " + shown(node.text)) + "; allowed: " + allowed;
}

}  // namespace bellwether::input
