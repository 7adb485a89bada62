// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"

namespace bellwether {
namespace {

std::string joined(std::vector<std::string> const& faults) {
  std::string text;
  for (auto const& fault : faults) text += (text.empty() ? "" : "\n") + fault;
  return text;
}

}  // namespace

InputError::InputError(std::vector<std::string> faults)
    : std::runtime_error(joined(faults)), faults_(std::move(faults)) {}

void require(bool condition, std::string_view message, std::source_location where) {
  if (condition) return;
  throw InternalError(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                      where.function_name() + ": " + std::string(message));
}

}  // namespace bellwether
