// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"

#include <string>

namespace bellwether::input {

/// A file or folder cannot be written for a reason that is no fault of the path: a full disk, a quota, a limit.
class NoRoom : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// Returns true if `error`, a value of errno, means that the system lacks room or other resources, or that a device
/// fails. Another path may have the same fault. False for a path that cannot be right, such as a missing folder.
bool is_lack_of_room(int error);

/// Throws the error of a path that cannot be written: `text`, ": " and the system's reason.
/// \throws NoRoom if the system lacks room; InputError otherwise: another path helps.
[[noreturn]] void throw_unwritable(std::string const& text, int error);

}  // namespace bellwether::input
