// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Input: a replay file. An accepted file must have a gradient for every call and rank.
#include "core/system/error.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/replay_input.hpp"

#include <sstream>

using namespace bellwether;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  int const ranks = 1 + bytes.byte() % 3;
  std::istringstream text{std::string(bytes.rest())};
  try {
    test::ReplayInput const input(test::parse_json(text), ranks);
    fuzz::must(static_cast<std::int64_t>(input.initial.size()) == input.layout.count(), "a value for each element");
    for (int call = 1; call <= std::min(input.calls, 4); ++call)
      for (int rank = 0; rank < ranks; ++rank)
        fuzz::must(input.gradient(call, rank).size() == input.initial.size(), "a gradient for each element");
  } catch (InputError const&) {
  }
  return 0;
}
