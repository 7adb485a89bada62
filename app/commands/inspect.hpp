// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace bellwether::app {

struct InspectOptions {
  std::int64_t rows = 0;   ///< number of rows of a shard to print with their token ids
  bool show_deck = false;  ///< print the deck stored in a checkpoint
  bool damaged = false;    ///< also read checkpoints whose files differ from their manifest
};

/// Prints the contents of a shard, a checkpoint or a statistics file. For a folder, prints each of its HDF5 files; for
/// a run's folder `checkpoints`, lists the checkpoints. Reads shards completely and checks the range of their values.
/// Call it on the I/O thread.
/// \throws InputError if a file has another format or is damaged, or if rows of missing segments are requested. A
/// checkpoint is compared with its manifest before it is read.
void inspect(std::string const& path, InspectOptions const& options, std::ostream& out);

}  // namespace bellwether::app
