// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace bellwether::app {

struct InspectOptions {
  std::int64_t rows = 0;   ///< rows of a shard to print with their ids
  bool show_deck = false;  ///< the deck stored in a checkpoint
  bool damaged = false;    ///< look at checkpoints whose files are not as their manifest says, too
};

/// Says what a shard, a checkpoint or a statistics file holds; of a folder, each of its HDF5 files, and of a run's
/// folder `checkpoints`, which there are. Shards are read whole and range-checked. To be used on the I/O thread.
/// \throws InputError where a file is none of these or damaged, by its manifest before it is read, or shows rows of
/// segments that are missing.
void inspect(std::string const& path, InspectOptions const& options, std::ostream& out);

}  // namespace bellwether::app
