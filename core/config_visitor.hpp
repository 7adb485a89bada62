// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether {

/// One key of a deck section.
struct Field {
  std::string_view name;
  std::string_view help;
  std::string_view unit = {};
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_allowed = true;  ///< false: greater than minimum, not equal
  bool maximum_allowed = true;
  bool required = false;  ///< no default: the deck must name it
  /// What must hold for the key to mean anything, such as "decay: polynomial", and whether it holds for the values
  /// described so far: describe the deciding key first. A deck that gives a key that does not apply is refused.
  std::string_view only_with = {};
  bool applies = true;
  /// Where the key does not apply, a deck may still write out its default.
  bool default_allowed = false;
};

/// A config is a plain aggregate with one member function
///     template <class Visitor> or void describe(ConfigVisitor& visit)
/// that names each field once. Parsing, checking, printing the resolved deck, the schema, HDF5 attributes and the
/// reference table are visitors over it. A default is the value of a default-constructed aggregate.
class ConfigVisitor {
 public:
  virtual ~ConfigVisitor() = default;
  virtual void section(std::string_view name, std::string_view help,
                       std::function<void(ConfigVisitor&)> const& describe) = 0;
  virtual void field(Field const& field, bool& value) = 0;
  virtual void field(Field const& field, std::int64_t& value) = 0;
  virtual void field(Field const& field, double& value) = 0;
  virtual void field(Field const& field, std::string& value) = 0;
  virtual void field(Field const& field, std::vector<std::string>& value) = 0;
  virtual void field(Field const& field, std::optional<std::int64_t>& value) = 0;  ///< absent or null: not set
  virtual void field(Field const& field, std::optional<double>& value) = 0;
  virtual void field(Field const& field, std::optional<std::chrono::seconds>& value) = 0;  ///< of the wall clock
  /// One of `names`; `value` is its index. Use choice() below with an enum class whose values count from 0.
  virtual void choice(Field const& field, std::vector<std::string_view> const& names, int& value) = 0;

  template <class Enum>
  void choice(Field const& which, std::vector<std::string_view> const& names, Enum& value) {
    int index = static_cast<int>(value);
    choice(which, names, index);
    value = static_cast<Enum>(index);
  }
};

}  // namespace bellwether
