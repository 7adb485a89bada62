// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/warp_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace bellwether::test {

/// A thread of a team as run_teams() gives it to a kernel: what the kernel asks of Kokkos' teams.
class EmulatedTeam {
 public:
  EmulatedTeam(int league_rank, int team_rank) : league_rank_(league_rank), team_rank_(team_rank) {}

  int league_rank() const { return league_rank_; }
  int team_rank() const { return team_rank_; }
  void team_barrier() const;
  EmulatedTeam const& team_scratch(int) const { return *this; }
  /// The same memory for all threads of the team. \throws std::runtime_error where it is more than run_teams() was
  /// given.
  void* get_shmem_aligned(std::size_t bytes, std::ptrdiff_t alignment) const;

 private:
  int league_rank_, team_rank_;
};

/// The Warp of core/gemm/warp_matrix.hpp for threads that run_teams() runs. What is fetched arrives when it is awaited,
/// and what was there before is read until then.
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

/// Runs body(team) by `threads` threads of each of `teams` teams, one team after the other. Threads go on in an order
/// that is drawn from `seed`, each up to where it has to wait for others, so that what a barrier is missing for goes
/// wrong in some order. Shared memory begins with what is no number.
/// \throws std::runtime_error where lanes meet in different operations, or wait for some that have ended.
void run_teams(int teams, int threads, std::size_t shared_bytes, std::uint64_t seed,
               std::function<void(EmulatedTeam const&)> const& body);

}  // namespace bellwether::test
