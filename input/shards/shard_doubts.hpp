// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::input {

/// What may be wrong with shards and can be trained on all the same. A doubt about many shards is one sentence, which
/// names the first of them.
class ShardDoubts {
 public:
  void add(std::string const& path, std::string const& what);
  /// One sentence for each kind of doubt, in the order in which they came up.
  std::vector<std::string> sentences() const;

 private:
  struct Doubt {
    std::string what, first;
    std::int64_t others = 0;
  };
  std::vector<Doubt> doubts_;
};

/// What a folder seems to lack: shards that are still compressed, were not completely copied, have another name or lie
/// in folders within, and numbers that are missing between those of others. One sentence each. `listed`: the entries of
/// the deck, whose folders are read. For the I/O thread.
std::vector<std::string> folder_doubts(std::string const& folder, std::vector<std::string> const& listed = {});

}  // namespace bellwether::input
