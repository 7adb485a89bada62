// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdio>

namespace bellwether::app {

/// The terminal at which a person reads an output, if there is one. A launcher such as mpirun may give its ranks a
/// pseudo-terminal while its own output goes to a file: then what counts is where the launcher writes. It is the
/// nearest ancestor of this process that does not carry the launcher's environment itself.
class Terminal {
 public:
  /// out: must outlive the object.
  explicit Terminal(std::FILE* out);
  ~Terminal();
  Terminal(Terminal const&) = delete;
  Terminal& operator=(Terminal const&) = delete;

  bool exists() const { return reader_ >= 0; }
  /// Its width now, people resize windows; 80 where it does not say.
  std::size_t columns() const;

 private:
  int out_;             // what we write to
  int reader_ = -1;     // the terminal that shows it: out_ or the launcher's
  bool owned_ = false;  // reader_ is to be closed
};

}  // namespace bellwether::app
