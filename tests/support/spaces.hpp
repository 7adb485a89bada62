// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <string>
#include <tuple>
#include <utility>

namespace bellwether::test {

#define BELLWETHER_TUPLE_OF_SPACE(Space) std::declval<std::tuple<Space>>(),
/// Every enabled execution space, from the list in core/types.hpp:
///     TEMPLATE_LIST_TEST_CASE("...", "", bellwether::test::Spaces) { using Space = TestType; ... }
using Spaces =
    decltype(std::tuple_cat(BELLWETHER_FOR_EACH_SPACE(BELLWETHER_TUPLE_OF_SPACE) std::declval<std::tuple<>>()));
#undef BELLWETHER_TUPLE_OF_SPACE

inline std::string enabled_space_names() {
  std::string text;
#define BELLWETHER_NAME_OF_SPACE(Space) text += (text.empty() ? "" : ", ") + std::string(Space::name());
  BELLWETHER_FOR_EACH_SPACE(BELLWETHER_NAME_OF_SPACE)
#undef BELLWETHER_NAME_OF_SPACE
  return text;
}

}  // namespace bellwether::test
