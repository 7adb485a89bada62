// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/warp_emulator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <array>

using namespace bellwether;
using test::EmulatedTeam;
using test::EmulatedWarp;
using test::run_teams;

namespace {

constexpr int threads = 64;
constexpr std::size_t shared = threads * sizeof(std::uint32_t) + 128;

/// Returns in how many orders some threads do not read what their neighbours wrote.
int wrong_orders(bool with_barrier) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    bool right = true;
    run_teams(1, threads, shared, seed, [&](EmulatedTeam const& team) {
      auto* const words = static_cast<std::uint32_t*>(team.get_shmem_aligned(threads * sizeof(std::uint32_t), 128));
      int const mine = team.team_rank();
      words[mine] = static_cast<std::uint32_t>(mine);
      if (with_barrier) team.team_barrier();
      int const other = (mine + threads / 2) % threads;
      right = right && words[other] == static_cast<std::uint32_t>(other);
    });
    wrong += right ? 0 : 1;
  }
  return wrong;
}

auto fails_with(std::string const& text) { return Catch::Matchers::Message(text); }

}  // namespace

TEST_CASE("emulated threads meet at barriers, and some order reveals a missing one") {
  CHECK(wrong_orders(true) == 0);
  CHECK(wrong_orders(false) > 0);
}

TEST_CASE("emulated lanes read each other's values") {
  run_teams(2, threads, 0, 1, [](EmulatedTeam const& team) {
    int const lane = EmulatedWarp::lane();
    if (lane != team.team_rank() % 32) throw std::runtime_error("wrong lane");
    float const mine = static_cast<float>(100 * team.team_rank());
    if (EmulatedWarp::across(mine, 3) != static_cast<float>(100 * (team.team_rank() ^ 3)))
      throw std::runtime_error("across");
    if (EmulatedWarp::of_lane(mine, 31 - lane) != static_cast<float>(100 * (team.team_rank() / 32 * 32 + 31 - lane)))
      throw std::runtime_error("of a lane");
  });
}

TEST_CASE("emulated copies arrive when they are awaited, and not before") {
  alignas(16) std::array<bf16, 8> row;
  row.fill(bf16(2.0f));
  run_teams(1, 32, 256, 1, [&](EmulatedTeam const& team) {
    auto const begin = EmulatedWarp::address_of(team.get_shmem_aligned(16, 128));
    if (EmulatedWarp::lane() != 0) return;
    auto const first = [&] { return device_math::low_of(EmulatedWarp::read_piece(begin).words[0]); };
    EmulatedWarp::fetch(begin, row.data(), true);
    if (first() == 2.0f) throw std::runtime_error("the copy arrived too early");
    EmulatedWarp::await_fetched();
    if (first() != 2.0f) throw std::runtime_error("the copy did not arrive");
    EmulatedWarp::fetch(begin, row.data(), false);
    EmulatedWarp::await_fetched();
    if (first() != 0.0f) throw std::runtime_error("missing elements are not zero");
  });
}

TEST_CASE("emulated lanes that do not meet are reported") {
  CHECK_THROWS_MATCHES(run_teams(1, 32, 0, 1,
                                 [](EmulatedTeam const& team) {
                                   if (team.team_rank() == 5) return;
                                   EmulatedWarp::across(0, 1);
                                 }),
                       std::runtime_error, fails_with("threads wait for threads that have ended"));
  CHECK_THROWS_MATCHES(run_teams(1, 32, 0, 1,
                                 [](EmulatedTeam const& team) {
                                   if (team.team_rank() % 2 == 0)
                                     EmulatedWarp::across(0, 1);
                                   else
                                     EmulatedWarp::of_lane(0, 1);
                                 }),
                       std::runtime_error, fails_with("lanes of a warp meet in different operations"));
  CHECK_THROWS_MATCHES(run_teams(1, 32, 64, 1, [](EmulatedTeam const& team) { team.get_shmem_aligned(128, 16); }),
                       std::runtime_error, fails_with("a team has too little shared memory"));
}
