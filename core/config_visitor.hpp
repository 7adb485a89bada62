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
  bool required = false;  ///< no default: the deck must set it
  /// Condition under which the key is used, e.g. "decay: polynomial", and whether the values described so far meet it.
  /// Describe the deciding key first. A deck that sets a key that does not apply is rejected.
  std::string_view only_with = {};
  bool applies = true;
  /// Accepts the default value in a deck even if the key does not apply.
  bool default_allowed = false;
};

/// A config is a plain aggregate with one member function
///     template <class Visitor> or void describe(ConfigVisitor& visit)
/// that names each field once. Visitors parse, check and print the deck, and write the schema, the HDF5 attributes and
/// the reference table. The default of a field is its value in a default-constructed aggregate.
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
  virtual void field(Field const& field, std::optional<std::int64_t>& value) = 0;  ///< absent or null: unset
  virtual void field(Field const& field, std::optional<double>& value) = 0;
  virtual void field(Field const& field, std::optional<std::chrono::seconds>& value) = 0;  ///< wall-clock time
  /// One of `names`; value: its index. For an enum class whose values count from 0, use choice() below.
  virtual void choice(Field const& field, std::vector<std::string_view> const& names, int& value) = 0;

  template <class Enum>
  void choice(Field const& which, std::vector<std::string_view> const& names, Enum& value) {
    int index = static_cast<int>(value);
    choice(which, names, index);
    value = static_cast<Enum>(index);
  }
};

}  // namespace bellwether
