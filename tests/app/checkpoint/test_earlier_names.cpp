// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/earlier_names.hpp"
#include "tests/app/checkpoint/checkpoint_fixture.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#include <array>
#include <numeric>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;
using input::Hdf5File;

TEST_CASE("Only the last part of a path has an earlier name") {
  CHECK(app::earlier_path("active") == "live");
  CHECK(app::earlier_path("data/traffic_dense/intra_node_bytes") == "data/traffic_dense/inside_node_bytes");
  CHECK(app::earlier_path("mean_residual/momentum").empty());
  CHECK(app::earlier_path("optimizer/momentum").empty());
}

namespace {

/// State with an entry of each kind that was renamed.
struct RenamedState {
  explicit RenamedState(float start) : residual(FakeOwner::total), proportion(1, start), bytes(std::int64_t(start)) {
    std::iota(residual.begin(), residual.end(), start);
  }

  app::TrainingState of(FakeOwner& owner, std::array<char const*, 3> const& names) {
    auto state = owner.state();
    state.optimizer = [this, names](StateVisitor& visit) {
      visit.array(replicated(names[0]), proportion);
      if (visit.has(names[1])) visit.array(held(names[1], 0, FakeOwner::total), residual);
    };
    state.data = [this, names](StateVisitor& visit) {
      visit.scalar(counter("traffic_dense/" + std::string(names[2])), bytes);
    };
    return state;
  }

  std::vector<float> residual, proportion;
  std::int64_t bytes;
};

constexpr std::array today{"sketch_proportion", "mean_residual", "intra_node_bytes"};
constexpr std::array earlier{"fold_proportion", "held_back", "inside_node_bytes"};

}  // namespace

TEST_CASE("State is found under its earlier name, on any number of ranks") {
  SharedFolder const folder;
  int const size = everyone().size(), writers = GENERATE_COPY(1, size);
  auto const some = everyone().split(everyone().rank() < writers ? 0 : 1, 0);
  if (everyone().rank() < writers) {
    CheckpointFixture run({.keep = 0}, *some, &folder);
    auto owner = run.owner(1);
    RenamedState saved(7);
    run.checkpoints->save(1, "", saved.of(owner, earlier));
    run.checkpoints->wait();
  }
  everyone().barrier("bellwether::test::written");
  CheckpointFixture run({.keep = 0}, everyone(), &folder);
  auto owner = run.owner(1);
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  RenamedState const wanted(7);
  RenamedState loaded(90);
  run.checkpoints->load(*found, loaded.of(owner, today));
  CHECK(loaded.residual == wanted.residual);
  CHECK(loaded.proportion == wanted.proportion);
  CHECK(loaded.bytes == wanted.bytes);
  auto other = owner.state();
  other.optimizer = [](StateVisitor& visit) { visit.drop("mean_residual"); };
  CHECK_THROWS_WITH(
      run.checkpoints->load(*found, other),
      ContainsSubstring("optimizer/fold_proportion: this run has no such state") && !ContainsSubstring("held_back"));
}

TEST_CASE("Counts of active elements are found under their earlier name") {
  CheckpointFixture run;
  auto owner = run.owner(1);
  auto state = owner.state();
  state.optimizer = nullptr;
  state.data = nullptr;
  run.checkpoints->save(1, "", state);
  run.checkpoints->wait();
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  on_rank_0([&] {
    auto const file = run.folder->step(1) + "/replicated.h5", aside = file + ".old";
    std::filesystem::rename(file, aside);
    auto const from = Hdf5File::open(aside);
    auto to = Hdf5File::create(file);
    for (auto const& name : from.attribute_names("/")) to.set_attribute("/", name, *from.attribute("/", name));
    to.write_texts("index", from.read_texts("index"));
    to.write<std::int64_t>("live", from.info("active").shape, from.read<std::int64_t>("active"));
    for (auto const& tensor : state.layout.tensors())
      to.write<float>("parameters/" + tensor.name, tensor.shape, from.read<float>("parameters/" + tensor.name));
    to.close();
  });
  ParameterLayout longer;
  for (auto const& tensor : state.layout.tensors())
    longer.add({.name = tensor.name, .shape = tensor.shape, .active = tensor.count});
  app::TrainingState more{longer, owner.parameters, false, nullptr, nullptr};
  run.checkpoints->load(*found, more);
  more.key_of_active = [] { return std::string("data.heldout"); };
  CHECK_THROWS_WITH(run.checkpoints->load(*found, more),
                    ContainsSubstring("embeddings.weight (35 active elements, 0 in the checkpoint)"));
}
