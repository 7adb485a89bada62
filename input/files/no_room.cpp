// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/no_room.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace bellwether::input {

bool is_lack_of_room(int error) {
  constexpr std::array lacks{ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM};
  return is_lack_of_descriptors(error) || std::ranges::find(lacks, error) != lacks.end();
}

bool is_lack_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

void throw_unreadable(std::string const& text, int error) {
  auto const whole = text + ": " + std::generic_category().message(error);
  if (is_lack_of_descriptors(error)) throw NoRoom(whole);
  throw InputError(whole);
}

void throw_unwritable(std::string const& text, int error) {
  auto const whole = text + ": " + std::generic_category().message(error);
  if (is_lack_of_room(error)) throw NoRoom(whole);
  throw InputError(whole);
}

}  // namespace bellwether::input
