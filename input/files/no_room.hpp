// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"

#include <string>

namespace bellwether::input {

/// A file or folder cannot be written or opened because of a full disk, a quota or a limit. The path is right.
class NoRoom : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// Returns true if `error`, a value of errno, means that the system lacks room or other resources, or that a device
/// fails. Returns false if the path itself is wrong, for example in a missing folder.
bool is_lack_of_room(int error);

/// Returns true if `error`, a value of errno, means that this process or the machine has too many files open.
bool is_lack_of_descriptors(int error);

/// Throws the error of a path that cannot be read: `text`, ": " and the system's reason.
/// \throws NoRoom if too many files are open; InputError otherwise.
[[noreturn]] void throw_unreadable(std::string const& text, int error);

/// Throws the error of a path that cannot be written: `text`, ": " and the system's reason.
/// \throws NoRoom if the system lacks room; InputError otherwise: another path helps.
[[noreturn]] void throw_unwritable(std::string const& text, int error);

}  // namespace bellwether::input
