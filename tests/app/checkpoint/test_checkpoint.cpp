// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_folder.hpp"
#include "tests/app/checkpoint/checkpoint_fixture.hpp"

#include <catch2/matchers/catch_matchers_all.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <utility>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

TEST_CASE("A checkpoint returns every kind of state at the same number of ranks") {
  CheckpointFixture run;
  auto saved = run.owner(0.5F);
  saved.has_refused = true;
  run.checkpoints->save(3, "run: {}\n", saved.state());
  CHECK_FALSE(run.checkpoints->last_complete().has_value());
  while (!run.checkpoints->last_complete()) run.checkpoints->poll();
  CHECK(fs::exists(run.folder->step(3) + "/manifest"));
  CHECK_FALSE(fs::exists(run.folder->step(3) + ".part"));

  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  CHECK(found->step == 3);
  CHECK(found->ranks == everyone().size());
  CHECK(found->deck == "run: {}\n");
  auto loaded = run.owner(90);
  loaded.has_refused = true;
  run.checkpoints->load(*found, loaded.state());
  check_equal(loaded, saved);
  CHECK(loaded.mean_of_ranks == saved.mean_of_ranks);
  CHECK(loaded.zeroed == saved.zeroed);
  CHECK(loaded.refused == saved.refused);
  CHECK(run.warnings.empty());
}

TEST_CASE("A checkpoint is resharded for another number of ranks") {
  for (int writers = 1; writers <= everyone().size(); ++writers)
    for (int readers = 1; readers <= everyone().size(); ++readers) {
      bool const per_rank = writers % 2 == 0;
      SharedFolder const folder;
      auto const some_write = everyone().split(everyone().rank() < writers ? 0 : 1, 0);
      auto const some_read = everyone().split(everyone().rank() < readers ? 0 : 1, 0);
      if (everyone().rank() < writers) {
        CheckpointFixture run({.keep = 0}, *some_write, &folder);
        auto saved = run.owner(0.25F);
        saved.parameters_per_rank = per_rank;
        if (per_rank)
          for (auto& value : saved.parameters) value += static_cast<float>(everyone().rank());
        run.checkpoints->save(1, "", saved.state());
        run.checkpoints->wait();
      }
      everyone().barrier("bellwether::test::written");
      if (everyone().rank() >= readers) continue;
      CheckpointFixture run({.keep = 0}, *some_read, &folder);
      auto loaded = run.owner(90), wanted = run.owner(0.25F);
      loaded.parameters_per_rank = per_rank;
      auto const found = run.checkpoints->find_latest();
      REQUIRE(found.has_value());
      CHECK(found->ranks == writers);
      run.checkpoints->load(*found, loaded.state());
      if (per_rank) {
        float const offset =
            writers == readers ? static_cast<float>(everyone().rank()) : static_cast<float>(writers - 1) / 2;
        for (auto& value : wanted.parameters) value += offset;
      }
      check_equal(loaded, wanted);
      if (writers == readers) continue;
      for (std::size_t i = 0; i < loaded.zeroed.size(); ++i) {
        REQUIRE(loaded.zeroed[i] == 0.0F);
        REQUIRE(loaded.mean_of_ranks[i] ==
                400.25F + static_cast<float>(i) + 10000 * static_cast<float>(writers - 1) / 2);
      }
      auto refusing = run.owner(90);
      refusing.has_refused = true;
      CHECK_THROWS_WITH(run.checkpoints->load(*found, refusing.state()), ContainsSubstring("worker/graph"));
    }
}

TEST_CASE("Slices that several ranks hold are resharded by element") {
  // Ranks that follow each other, as if each were on its own node: L of them share the vector, and size / L hold each
  // slice.
  static constexpr std::int64_t total = 103;
  int const size = everyone().size(), rank = everyone().rank();
  struct Slice {
    std::int64_t first, last;
  };
  auto const slice_of = [](int rank_of, int ranks_per_node) {
    std::int64_t const width = 32 * ((total + 32 * ranks_per_node - 1) / (32 * ranks_per_node));
    int const place = rank_of % ranks_per_node;
    return Slice{std::min(total, place * width), std::min(total, (place + 1) * width)};
  };
  auto const value = [](int holder, std::int64_t k) { return static_cast<float>(1000 * (holder + 1) + k); };
  auto const state_of = [&](FakeOwner& owner, std::vector<float>& values, int ranks_per_node, bool whole) {
    auto state = owner.state();
    auto const slice = slice_of(rank, ranks_per_node);
    state.optimizer = [&values, slice, whole](StateVisitor& visit) {
      if (whole)
        visit.array(per_rank("worker_error", Reshard::mean), values);
      else
        visit.array(held("worker_error", slice.first, total), values);
    };
    return state;
  };
  for (int before = 1; before <= size; ++before)
    for (int after = 1; after <= size; ++after) {
      if (size % before != 0 || size % after != 0) continue;
      CheckpointFixture run;
      auto owner = run.owner(0.5F);
      auto const had = slice_of(rank, before), has = slice_of(rank, after);
      std::vector<float> values;
      for (std::int64_t k = had.first; k < had.last; ++k) values.push_back(value(rank, k));
      run.checkpoints->save(1, "", state_of(owner, values, before, before == 1 && size % 2 == 0));
      run.checkpoints->wait();
      std::vector<float> read(static_cast<std::size_t>(has.last - has.first), -1.0F);
      auto const found = run.checkpoints->find_latest();
      REQUIRE(found.has_value());
      run.checkpoints->load(*found, state_of(owner, read, after, after == 1 && size % 3 == 0));
      for (std::int64_t k = has.first; k < has.last; ++k) {
        double sum = 0, holders = 0;
        for (int each = 0; each < size; ++each)
          if (auto const held = slice_of(each, before); held.first <= k && k < held.last) {
            sum += static_cast<double>(value(each, k));
            ++holders;
          }
        REQUIRE(read[static_cast<std::size_t>(k - has.first)] ==
                (before == after ? value(rank, k) : static_cast<float>(sum / holders)));
      }
      // Every rank rejects the vector of another model, and one with a gap.
      std::vector<float> more(static_cast<std::size_t>(total) + 1);
      auto longer = owner.state();
      longer.optimizer = [&](StateVisitor& visit) { visit.array(held("worker_error", 0, total + 1), more); };
      CHECK_THROWS_WITH(run.checkpoints->load(*found, longer), ContainsSubstring("worker_error: shape"));
    }
}

TEST_CASE("Elements that no rank held are named") {
  CheckpointFixture run;
  auto owner = run.owner(0.5F);
  std::vector<float> values(50), whole(100);
  auto part = owner.state(), all = owner.state();
  part.optimizer = [&](StateVisitor& visit) { visit.array(held("worker_error", 0, 100), values); };
  all.optimizer = [&](StateVisitor& visit) { visit.array(per_rank("worker_error", Reshard::mean), whole); };
  run.checkpoints->save(1, "", part);
  run.checkpoints->wait();
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  CHECK_THROWS_WITH(run.checkpoints->load(*found, all), ContainsSubstring("worker_error: no rank held row "));
}

TEST_CASE("A slice beyond its total is rejected") {
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() - 3;
  for (auto const& [first, total] : {std::pair{far, std::int64_t{100}},
                                     {std::int64_t{-1}, std::int64_t{100}},
                                     {std::int64_t{60}, std::int64_t{100}},
                                     {std::int64_t{0}, std::int64_t{-5}}}) {
    CheckpointFixture run;
    auto owner = run.owner(0.5F);
    std::vector<float> values(50), whole(100);
    auto part = owner.state(), all = owner.state();
    part.optimizer = [&, first = first, total = total](StateVisitor& visit) {
      visit.array(held("worker_error", first, total), values);
    };
    all.optimizer = [&](StateVisitor& visit) { visit.array(per_rank("worker_error", Reshard::mean), whole); };
    run.checkpoints->save(1, "", part);
    run.checkpoints->wait();
    auto const found = run.checkpoints->find_latest();
    REQUIRE(found.has_value());
    CHECK_THROWS_WITH(run.checkpoints->load(*found, all), ContainsSubstring("allowed: a slice within its total"));
  }
}

TEST_CASE("Incomplete and damaged checkpoints are named and skipped") {
  CheckpointFixture run;
  CHECK_FALSE(run.checkpoints->find_latest().has_value());
  for (int step = 1; step <= 6; ++step) run.save(step, static_cast<float>(step));
  on_rank_0([&] {
    fs::remove(run.folder->step(6) + "/manifest");
    fs::resize_file(run.folder->step(5) + "/manifest", fs::file_size(run.folder->step(5) + "/manifest") - 3);
    fs::resize_file(run.folder->step(4) + "/replicated.h5", 1000);
    std::fstream file(run.folder->step(3) + "/rank0.h5", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-20, std::ios::end);
    file.put('\x5a');
    fs::remove(run.folder->step(2) + "/rank" + std::to_string(everyone().size() - 1) + ".h5");
    fs::create_directories(run.folder->step(7) + ".part");
    fs::create_directories(run.folder->step(8) + ".mine");
    for (auto const* name : {"step_007", "step_-9", "step_"})
      fs::create_directories(run.folder->path() + "/checkpoints/" + name);
  });
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  CHECK(found->step == 1);
  CHECK(found->deck == "deck of step 1");
  auto loaded = run.owner(90);
  run.checkpoints->load(*found, loaded.state());
  check_equal(loaded, run.owner(1));
  if (everyone().rank() == 0) {
    CHECK_THAT(run.warnings, ContainsSubstring("step_7.part: incomplete"));
    CHECK_THAT(run.warnings, ContainsSubstring("step_6/manifest: missing"));
    CHECK_THAT(run.warnings, ContainsSubstring("step_5/manifest: damaged"));
    CHECK_THAT(run.warnings, ContainsSubstring("step_4/replicated.h5: 1000 bytes"));
    CHECK_THAT(run.warnings, ContainsSubstring("step_3/rank0.h5: its checksum does not match"));
    CHECK_THAT(run.warnings, ContainsSubstring(".h5: missing"));
    CHECK(std::ranges::count(run.warnings, '\n') == 6);
  } else {
    CHECK(run.warnings.empty());
  }
  // The run continues from step 1 and finds the damaged folder of step 2 again.
  run.save(2, 22);
  auto const again = run.checkpoints->find_latest();
  REQUIRE(again.has_value());
  CHECK(again->step == 2);
  run.checkpoints->load(*again, loaded.state());
  check_equal(loaded, run.owner(22));
}

TEST_CASE("A manifest that is not a file is skipped") {
  CheckpointFixture run;
  run.save(1, 1);
  run.save(2, 2);
  on_rank_0([&] {
    fs::remove(run.folder->step(2) + "/manifest");
    REQUIRE(mkfifo((run.folder->step(2) + "/manifest").c_str(), 0600) == 0);
    fs::create_directories(run.folder->step(3));
    std::ofstream(run.folder->step(3) + "/manifest").put('b');
    fs::resize_file(run.folder->step(3) + "/manifest", std::uintmax_t{1} << 40);  // a sparse file: takes no disk space
  });
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  CHECK(found->step == 1);
  if (everyone().rank() == 0) CHECK_THAT(run.warnings, ContainsSubstring("step_3/manifest: damaged: 1099511627776"));
}

TEST_CASE("A manifest names the file of replicated state, and no file twice") {
  app::Manifest manifest{.step = 3, .ranks = 2, .files = {{"replicated.h5", 1, "0"}, {"rank1.h5", 1, "0"}}};
  CHECK(app::Manifest::parse(manifest.text()).files.size() == 2);
  manifest.files.push_back(manifest.files.back());
  CHECK_THROWS_WITH(app::Manifest::parse(manifest.text()), ContainsSubstring("'rank1.h5' twice"));
  manifest.files = {{"rank0.h5", 1, "0"}, {"rank1.h5", 1, "0"}};
  CHECK_THROWS_WITH(app::Manifest::parse(manifest.text()), ContainsSubstring("does not name the file 'replicated.h5'"));
}

TEST_CASE("An unreadable folder of checkpoints is an error") {
  CheckpointFixture run;
  on_rank_0([&] { std::ofstream(run.folder->path() + "/checkpoints") << "a file"; });
  CHECK_THROWS_WITH(run.checkpoints->find_latest(), ContainsSubstring("checkpoints: cannot be read: Not a directory"));
  CHECK(run.checkpoints->newest_path().empty());
  on_rank_0([&] {
    fs::remove(run.folder->path() + "/checkpoints");
    fs::create_directory_symlink("nowhere", run.folder->path() + "/checkpoints");
  });
  CHECK_THROWS_WITH(run.checkpoints->find_latest(), ContainsSubstring("checkpoints: cannot be read: No such file"));
}

TEST_CASE("A checkpoint of a newer format is rejected with its format") {
  CheckpointFixture run;
  run.save(1, 1);
  on_rank_0([&] { std::ofstream(run.folder->step(1) + "/manifest") << "bellwether checkpoint 2.0\nchecksum 0\n"; });
  CHECK_THROWS_WITH(run.checkpoints->find_latest(), ContainsSubstring("checkpoints, but none is usable"));
  if (everyone().rank() == 0) CHECK_THAT(run.warnings, ContainsSubstring("format 2.0"));
}

TEST_CASE("A first checkpoint that was never completed is ignored") {
  CheckpointFixture run;
  on_rank_0([&] { fs::create_directories(run.folder->step(1) + ".part"); });
  CHECK_FALSE(run.checkpoints->find_latest().has_value());
}

TEST_CASE("Older checkpoints are removed once the new one is complete") {
  CheckpointFixture run({.keep = 2});
  run.save(1, 1);
  run.save(2, 2);
  on_rank_0([&] { fs::resize_file(run.folder->step(2) + "/manifest", 10); });
  run.save(3, 3);
  on_rank_0([&] {
    // Step 2 is damaged: it is neither counted nor removed.
    CHECK(fs::exists(run.folder->step(1)));
    fs::create_directories(run.folder->step(2) + ".part/rest");
  });
  auto state = run.owner(4);
  run.checkpoints->save(4, "", state.state());
  if (everyone().rank() == 0) CHECK(fs::exists(run.folder->step(1)));
  run.checkpoints->wait();
  everyone().barrier("bellwether::test::pruned");
  CHECK_FALSE(fs::exists(run.folder->step(1)));
  CHECK_FALSE(fs::exists(run.folder->step(2) + ".part"));
  for (int const step : {2, 3, 4}) CHECK(fs::exists(run.folder->step(step)));
  CHECK(run.checkpoints->last_complete() == 4);
  run.checkpoints->save(4, "", state.state());  // the run may end at the step of a periodic checkpoint
  run.checkpoints->wait();
  CHECK(run.warnings.empty());
}

TEST_CASE("Skipped checkpoints are neither counted nor removed") {
  SharedFolder const folder;
  for (std::int64_t const keep : {0, 2}) {
    CheckpointFixture run({.keep = keep}, everyone(), &folder);
    if (keep == 0) {
      for (int step = 1; step <= 3; ++step) run.save(step, static_cast<float>(step));
      on_rank_0([&] { fs::resize_file(folder.step(3) + "/replicated.h5", 1000); });
      CHECK(run.checkpoints->newest_path() == folder.step(3));  // that nobody has read yet
      continue;
    }
    REQUIRE(run.checkpoints->find_latest()->step == 2);
    CHECK(run.checkpoints->newest_path() == folder.step(2));
    run.save(4, 4);
    everyone().barrier("bellwether::test::pruned");
    CHECK_FALSE(fs::exists(folder.step(1)));
    for (int const step : {2, 3, 4}) CHECK(fs::exists(folder.step(step)));
    run.save(3, 33);  // replaces the damaged one
    run.save(5, 5);
    everyone().barrier("bellwether::test::pruned_again");
    for (int const step : {2, 3}) CHECK_FALSE(fs::exists(folder.step(step)));
    for (int const step : {4, 5}) CHECK(fs::exists(folder.step(step)));
  }
}

TEST_CASE("Only the link to a checkpoint elsewhere is removed") {
  SharedFolder const other;
  CheckpointFixture mine({.keep = 1});
  {
    CheckpointFixture theirs({.keep = 0}, everyone(), &other);
    theirs.save(1, 1);
  }
  on_rank_0([&] {
    fs::create_directories(mine.folder->path() + "/checkpoints");
    fs::create_directory_symlink(other.step(1), mine.folder->step(1));
  });
  auto const found = mine.checkpoints->find_latest();
  REQUIRE(found.has_value());
  mine.save(2, 2);
  everyone().barrier("bellwether::test::pruned");
  CHECK_FALSE(fs::exists(fs::symlink_status(mine.folder->step(1))));
  CheckpointFixture theirs({.keep = 0}, everyone(), &other);
  CHECK(theirs.checkpoints->find_latest().has_value());
}

TEST_CASE("State that does not match is rejected with its name on every rank") {
  CheckpointFixture run;
  run.save(1, 1);
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  auto other = run.owner(90);
  other.momentum.pop_back();
  CHECK_THROWS_WITH(run.checkpoints->load(*found, other.state()), ContainsSubstring("momentum: shape (46)"));
  auto renamed = run.owner(90);
  auto state = renamed.state();
  state.data = [](StateVisitor& visit) {
    std::int64_t nothing = 0;
    visit.scalar({"epoch"}, nothing);
  };
  CHECK_THROWS_WITH(run.checkpoints->load(*found, state),
                    ContainsSubstring("data/epoch: no scalar state") &&
                        ContainsSubstring("data/position: this run has no such state"));
  auto thrifty = run.owner(90);
  auto unwanted = thrifty.state();
  bool had = false, made_up = true;
  unwanted.data = [&](StateVisitor& visit) {
    had = visit.has("position");
    made_up = visit.has("epoch");
    for (auto const* name : {"position", "rate", "epoch"}) visit.drop(name);
  };
  run.checkpoints->load(*found, unwanted);  // dropped state is not reported as unread
  CHECK((had && !made_up));
  ParameterLayout frozen;
  frozen.add({.name = "embeddings.weight", .shape = {7, 5}, .decays = false});
  frozen.add({.name = "bias", .shape = {3}});
  frozen.add({.name = "dense.weight", .shape = {4, 2}});
  auto same = run.owner(90);
  auto const whole = same.state();
  CHECK_THROWS_WITH(
      run.checkpoints->load(*found, app::TrainingState{frozen, same.parameters, false, whole.optimizer, whole.data}),
      ContainsSubstring("marks other elements as decaying"));
  ParameterLayout longer;
  longer.add({.name = "embeddings.weight", .shape = {7, 5}, .active = 35});
  longer.add({.name = "bias", .shape = {3}});
  longer.add({.name = "dense.weight", .shape = {4, 2}});
  app::TrainingState alive{longer, same.parameters, false, whole.optimizer, whole.data};
  run.checkpoints->load(*found, alive);
  alive.key_of_active = [] { return std::string("data.heldout"); };
  CHECK_THROWS_WITH(run.checkpoints->load(*found, alive),
                    ContainsSubstring("data.heldout: longer sequences than in the run of ") &&
                        ContainsSubstring("embeddings.weight (35 active elements, 0 in the checkpoint); allowed: "));
}
