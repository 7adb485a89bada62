// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_table.hpp"

#include "input/deck/deck_values.hpp"
#include "input/deck/duration.hpp"

namespace bellwether::input {
namespace {

/// Writes a text as a YAML scalar in double quotes, the only style that can hold every text.
std::string quoted(std::string const& text) {
  static char const* const digits = "0123456789abcdef";
  std::string out = "\"";
  auto const escaped = [](unsigned char byte) { return std::string("\\x") + digits[byte >> 4] + digits[byte & 15]; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const byte = static_cast<unsigned char>(text[at]);
    auto const next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0u;
    if (byte == '"' || byte == '\\')
      out += std::string("\\") + text[at];
    else if (byte < 0x20 || byte == 0x7F)
      out += escaped(byte);
    else if (byte == 0xC2 && next >= 0x80 && next < 0xA0)  // U+0080 to U+009F, which a deck must escape
      out += escaped(static_cast<unsigned char>(text[++at]));
    else
      out += text[at];
  }
  return out + "\"";
}

/// Writes a number with a dot: YAML 1.1 readers take 1e-12 for a text.
std::string yaml_number(double value) {
  std::string text = shortest_number(value);
  if (auto const e = text.find('e'); e != std::string::npos && text.find('.') == std::string::npos)
    text.insert(e, ".0");
  return text;
}

std::string yaml(bool value) { return value ? "true" : "false"; }
std::string yaml(std::int64_t value) { return std::to_string(value); }
std::string yaml(double value) { return yaml_number(value); }
std::string yaml(std::string const& value) { return quoted(value); }
std::string yaml(std::vector<std::string> const& values) {
  std::string text;
  for (auto const& value : values) text += (text.empty() ? "" : ", ") + quoted(value);
  return "[" + text + "]";
}
std::string yaml(std::chrono::seconds value) { return quoted(duration_text(value)); }
template <class T>
std::string yaml(std::optional<T> const& value) {
  return value ? yaml(*value) : "null";
}

class TableWriter : public ConfigVisitor {
 public:
  void section(std::string_view name, std::string_view help,
               std::function<void(ConfigVisitor&)> const& describe) override {
    table_.push_back({std::string(name), std::string(help), {}});
    describe(*this);
  }
  void field(Field const& f, bool& value) override { add(f, yaml(value), allowed_values(f, ValueType::truth)); }
  void field(Field const& f, std::int64_t& value) override { add(f, yaml(value), allowed_values(f, ValueType::whole)); }
  void field(Field const& f, double& value) override { add(f, yaml(value), allowed_values(f, ValueType::real)); }
  void field(Field const& f, std::string& value) override { add(f, yaml(value), allowed_values(f, ValueType::text)); }
  void field(Field const& f, std::vector<std::string>& value) override {
    add(f, yaml(value), allowed_values(f, ValueType::texts));
  }
  void field(Field const& f, std::optional<std::int64_t>& value) override {
    add(f, yaml(value), allowed_values(f, ValueType::optional_whole));
  }
  void field(Field const& f, std::optional<double>& value) override {
    add(f, yaml(value), allowed_values(f, ValueType::optional_real));
  }
  void field(Field const& f, std::optional<std::chrono::seconds>& value) override {
    add(f, yaml(value), allowed_values(f, ValueType::optional_duration));
  }
  void choice(Field const& f, std::vector<std::string_view> const& names, int& value) override {
    add(f, std::string(names.at(static_cast<std::size_t>(value))), allowed_choices(names));
  }
  using ConfigVisitor::choice;
  std::vector<SectionRows> take() { return std::move(table_); }

 private:
  void add(Field const& f, std::string value, std::string allowed) {
    table_.back().keys.push_back({std::string(f.name), std::move(value), std::move(allowed), std::string(f.help),
                                  std::string(f.only_with), f.applies, f.required});
  }
  std::vector<SectionRows> table_;
};

}  // namespace

std::vector<SectionRows> key_table(Describe const& describe) {
  TableWriter writer;
  describe(writer);
  return writer.take();
}

std::vector<SectionRows> key_table(Deck deck) {
  return key_table([&deck](ConfigVisitor& visit) { deck.describe(visit); });
}

KeyCatalogue key_catalogue(Describe const& describe) {
  KeyCatalogue all;
  for (auto const& section : key_table(describe)) {
    auto& [name, keys] = all.emplace_back(section.name, std::vector<std::string>());
    for (auto const& key : section.keys) keys.push_back(key.name);
  }
  return all;
}

}  // namespace bellwether::input
