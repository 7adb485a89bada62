// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::input {

/// Collects possible mistakes in shards that do not prevent training. The same doubt about many shards gives one
/// sentence, which names the first of them.
class ShardDoubts {
 public:
  /// what: "has no rows". kind: the same for all shards with this doubt; `what` may then have numbers of the shard.
  void add(std::string const& path, std::string const& what, std::string const& kind = "");
  /// Returns one sentence for each kind of doubt, in the order of their first occurrence.
  std::vector<std::string> sentences() const;

 private:
  struct Doubt {
    std::string kind, what, first;
    std::int64_t others = 0;
  };
  std::vector<Doubt> doubts_;
};

/// Reports what a folder seems to lack: shards that are still compressed, incompletely copied, have another extension
/// or are in sub-folders, and missing numbers in a numbered series. One sentence each. `listed`: the entries of the
/// deck, whose folders are read. Call it on the I/O thread.
std::vector<std::string> folder_doubts(std::string const& folder, std::vector<std::string> const& listed = {});

}  // namespace bellwether::input
