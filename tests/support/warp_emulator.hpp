// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/warp_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace bellwether::test {

/// A thread of a team that run_teams() passes to a kernel. It has the functions of Kokkos' teams that kernels use.
class EmulatedTeam {
 public:
  EmulatedTeam(int league_rank, int team_rank) : league_rank_(league_rank), team_rank_(team_rank) {}

  int league_rank() const { return league_rank_; }
  int team_rank() const { return team_rank_; }
  void team_barrier() const;
  EmulatedTeam const& team_scratch(int) const { return *this; }
  /// Returns the same memory to all threads of a team. \throws std::runtime_error if run_teams() was given less memory.
  void* get_shmem_aligned(std::size_t bytes, std::ptrdiff_t alignment) const;

 private:
  int league_rank_, team_rank_;
};

/// Implements the Warp of core/gemm/warp_matrix.hpp for threads of run_teams(). An asynchronous copy takes effect when
/// it is awaited; until then the old contents are read.
struct EmulatedWarp {
  static int lane();
  static std::uint32_t address_of(void const* shared);
  static void read(std::uint32_t (&to)[4], std::uint32_t row);
  static void read_transposed(std::uint32_t (&to)[4], std::uint32_t row);
  static void multiply(float (&sum)[4], std::uint32_t const (&a)[4], std::uint32_t b0, std::uint32_t b1);
  static void write(std::uint32_t to, std::uint32_t word);
  static Piece read_piece(std::uint32_t from);
  static void fetch(std::uint32_t to, bf16 const* from, bool there);
  static void await_fetched();
  static float across(float value, int apart);
  static float of_lane(float value, int lane);
};

/// Runs body(team) in `threads` threads of each of `teams` teams, one team after the other. A random order from `seed`
/// decides which thread runs next, up to the point where it must wait. So a missing barrier causes a failure in some
/// orders. Shared memory initially contains NaNs.
/// \throws std::runtime_error if lanes meet in different operations, or wait for lanes that have ended.
void run_teams(int teams, int threads, std::size_t shared_bytes, std::uint64_t seed,
               std::function<void(EmulatedTeam const&)> const& body);

}  // namespace bellwether::test
