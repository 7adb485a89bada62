// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the kernels for matrix units in emulated threads and compares them with the host's attention.
#include "model/layers/attention_tile_kernels.hpp"
#include "tests/model/layers/attention_fixture.hpp"
#include "tests/support/warp_emulator.hpp"

#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;
using namespace bellwether::test::attention;

namespace {

template <class Kernel>
void run(Attention<float, bf16> const& p, std::uint64_t seed, Kernel const& kernel) {
  test::run_teams(static_cast<int>(p.sequences * p.heads) * attention_tiles::tiles(p.longest),
                  attention_tiles::team_threads, static_cast<std::size_t>(attention_tiles::SharedTiles::scratch_bytes),
                  seed, kernel);
}

}  // namespace

TEST_CASE("attention by tiles on matrix units agrees with the host's") {
  using namespace attention_tiles;
  using Warp = test::EmulatedWarp;
  double const dropout = GENERATE(0.0, 0.3);
  std::uint64_t const seed = GENERATE(1u, 2u);
  Problem<float, bf16, Host> mine(Host(), lengths, extent, 1);
  auto const T = mine.context.extent(0) / static_cast<std::size_t>(mine.C);
  mine.logarithms = Vec<float, Host>("logarithms", T * heads);
  mine.scratch =
      Vec<float, Host>("scratch", static_cast<std::size_t>(scratch_numbers(std::ssize(lengths), heads, mine.longest)));
  // These kernels round weights to bf16 before dividing by the softmax sum, the host after it.
  compare(mine, extent, dropout, 0x1p-6, [&](Attention<float, bf16> const& p) {
    int const of_head = tiles(p.longest);
    run(p, seed, Forward<Warp>{Params(p), mine.context.data(), of_head});
    Backward const shared{Params(p), mine.dcontext.data(), mine.dqkv.data(), of_head};
    run(p, seed, QueryBackward<Warp>{shared});
    run(p, seed, KeyBackward<Warp>{shared});
  });
}
