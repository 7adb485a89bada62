// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/rank_group.hpp"

#include <string_view>

namespace bellwether::comm {

/// MPI from start to end of the program, before Kokkos starts. Its collectives serve what ranks compare first of all:
/// they are short, and each has the deadline of a CallGuard, which ends the process.
class MpiRanks final : public RankGroup {
 public:
  /// deadline: seconds that a call waits for other ranks.
  /// \throws RuntimeError where MPI is not thread-safe enough. Where it cannot start, MPI ends the process.
  MpiRanks(int& argc, char**& argv, double deadline);
  /// Ends MPI. While an exception unwinds the stack MPI is left open: other ranks may be inside a collective, and the
  /// launcher ends them when this process goes.
  ~MpiRanks() override;
  MpiRanks(MpiRanks const&) = delete;
  MpiRanks& operator=(MpiRanks const&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void sum_host(std::span<double> inout, Label) override;
  void broadcast_host(std::span<std::byte> inout, int root, Label) override;
  void barrier(Label) override;
  void set_deadline(double seconds) override { deadline_ = seconds; }
  double deadline() const { return deadline_; }

  /// Prints `[rank r] message` and ends the job on all ranks, after `patience` seconds in which they may have
  /// something to say, too. Called by main() alone.
  [[noreturn]] void abort(int exit_code, std::string_view message, double patience = 0) const;

 private:
  double deadline_;
  int rank_ = 0, size_ = 1;
};

}  // namespace bellwether::comm
