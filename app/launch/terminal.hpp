// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdio>

namespace bellwether::app {

/// The terminal on which a person reads an output, if any. A launcher like mpirun may give its ranks a pseudo-terminal
/// while its own output goes to a file. In that case the launcher's output decides. The launcher is the nearest
/// ancestor of this process that does not have the launcher's environment variables.
class Terminal {
 public:
  /// out: must outlive this object.
  explicit Terminal(std::FILE* out);
  ~Terminal();
  Terminal(Terminal const&) = delete;
  Terminal& operator=(Terminal const&) = delete;

  bool exists() const { return reader_ >= 0; }
  /// Returns the current width, which changes when the user resizes the window; 80 if unknown.
  std::size_t columns() const;

 private:
  int out_;             // descriptor that we write to
  int reader_ = -1;     // terminal that displays it: out_ or the launcher's
  bool owned_ = false;  // the destructor closes reader_
};

}  // namespace bellwether::app
