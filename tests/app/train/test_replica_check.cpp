// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint.hpp"
#include "app/checkpoint/device_copy.hpp"
#include "app/train/replica_check.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/memory/arena.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <numeric>

using namespace bellwether;

namespace {

/// A state with an entry of each kind, equal on all ranks except for per-rank values.
struct State {
  State() {
    for (auto const* name : {"a", "b", "c", "d"}) layout.add({.name = name, .shape = {5, 3}});
    parameters.emplace(layout, "bellwether::test::parameters");
    momentum.emplace(layout, "bellwether::test::momentum");
    std::vector<float> values(static_cast<std::size_t>(layout.count()));
    std::iota(values.begin(), values.end(), -7.5f);
    app::copy_to_device(values, parameters->span());
    app::copy_to_device(values, momentum->span());
    values.resize(3);
    app::copy_to_device(values, {record.data(), record.extent(0)});
    std::vector<float> const residual(2, static_cast<float>(ranks.rank()));
    app::copy_to_device(residual, {own.data(), own.extent(0)});
  }

  std::string differing(bool parameters_per_rank = false) {
    app::TrainingState const state{.layout = layout,
                                   .parameters = parameters->span(),
                                   .parameters_per_rank = parameters_per_rank,
                                   .optimizer =
                                       [this](StateVisitor& visit) {
                                         visit.array(replicated("momentum"), momentum->span());
                                         visit.array(replicated("record"), {record.data(), record.extent(0)});
                                         visit.array(per_rank("residual", Reshard::mean), {own.data(), own.extent(0)});
                                         visit.scalar({"steps"}, steps);
                                       },
                                   .data =
                                       [](StateVisitor& visit) {
                                         double mine = test::world().communicator().rank();  // clocks and bytes sent
                                         visit.scalar({"seconds"}, mine);
                                       }};
    return app::differing_replicas(ranks, state, "host" + std::to_string(ranks.rank()));
  }
  static void flip(std::span<float> values, std::size_t at, int bit) {
    float value = 0;
    app::copy_from_device(values.subspan(at, 1), {&value, 1});
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (std::uint32_t{1} << bit));
    app::copy_to_device({&value, 1}, values.subspan(at, 1));
  }

  comm::Communicator& ranks = test::world().communicator();
  ParameterLayout layout;
  std::optional<Arena<>> parameters, momentum;
  Vec<float> record{"bellwether::test::record", 3}, own{"bellwether::test::own", 2};
  std::int64_t steps = 12;
};

}  // namespace

TEST_CASE("equal replicas are accepted, whatever the per-rank state") {
  State state;
  CHECK(state.differing().empty());
  if (state.ranks.rank() == 1) State::flip(state.parameters->span(), 0, 0);
  CHECK(state.differing(true).empty());  // per-rank parameters are not compared
}

TEST_CASE("one flipped bit on one rank is named by rank, host and tensor") {
  State state;
  int const size = state.ranks.size(), last = size - 1;
  if (state.ranks.rank() == last) State::flip(state.parameters->span(), 17, 0);
  auto const others = size == 2 ? std::string("rank 0") : "the " + std::to_string(last) + " that agree";
  auto const who = "rank " + std::to_string(last) + " on host" + std::to_string(last) + " differs from " + others;
  CHECK(state.differing() == who + " in parameters of b");
  if (state.ranks.rank() == last) {
    State::flip(state.momentum->span(), 59, 31);
    State::flip({state.record.data(), 3}, 2, 22);
    state.steps = 13;
  }
  CHECK(state.differing() == who + " in parameters of b, momentum of d, record and 1 more");
}

TEST_CASE("the majority of ranks is right; in a tie, the group of the lowest rank") {
  State state;
  int const size = state.ranks.size(), rank = state.ranks.rank();
  if (rank == 0) state.steps = 11;
  auto const text = state.differing();
  CHECK(text == (size == 2 ? "rank 1 on host1 differs from rank 0 in steps"
                           : "rank 0 on host0 differs from the " + std::to_string(size - 1) + " that agree in steps"));
  state.steps = 10 + rank;
  auto const all = state.differing();
  CHECK(all.starts_with("rank 1 on host1 differs from rank 0 in steps"));
  for (int r = 2; r < size; ++r)
    CHECK(all.find("; rank " + std::to_string(r) + " on host" + std::to_string(r) + " differs") != all.npos);
}
