// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/rank_group.hpp"

#include <string>
#include <string_view>

namespace bellwether::comm {

/// MPI for the whole program, before Kokkos starts. Its collectives serve start-up: they are short, and a CallGuard
/// ends the process if one exceeds the timeout.
class MpiRanks final : public RankGroup {
 public:
  /// Initialises MPI. timeout: of collectives, in seconds. If MPI cannot start, it ends the process.
  /// \throws RuntimeError if MPI's thread support is insufficient.
  MpiRanks(int& argc, char**& argv, double timeout);
  /// Finalises MPI. Not during stack unwinding: other ranks may be inside a collective, and the launcher ends them
  /// when this process exits.
  ~MpiRanks() override;
  MpiRanks(MpiRanks const&) = delete;
  MpiRanks& operator=(MpiRanks const&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void sum_host(std::span<double> inout, Label) override;
  void broadcast_host(std::span<std::byte> inout, int root, Label) override;
  void barrier(Label) override;
  void set_timeout(double seconds) override { timeout_ = seconds; }
  double timeout() const { return timeout_; }
  static std::string library();  ///< MPI's version line, "Open MPI v4.1.4"

  /// Prints `[rank r] message` and ends the job on all ranks. First waits `patience` seconds, so that other ranks can
  /// print their messages. Only main() calls it.
  [[noreturn]] void abort(int exit_code, std::string_view message, double patience = 0) const;

 private:
  double timeout_;
  int rank_ = 0, size_ = 1;
};

}  // namespace bellwether::comm
