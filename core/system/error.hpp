// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether {

/// An error the user can fix: deck, file, command line. main() prints it without a source location and exits with 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::string const& message) : std::runtime_error(message), faults_{message} {}
  explicit InputError(std::vector<std::string> faults);  ///< all faults at once, one per line
  std::vector<std::string> const& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

/// A bug: a broken contract between parts of the program, or a failed library call.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A failure of the environment: disk full, collective timeout, lost rank. main() ends the job with 1.
class RuntimeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InternalError with the call's location unless `condition` is true.
void require(bool condition, std::string_view message, std::source_location where = std::source_location::current());

}  // namespace bellwether
