// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "tests/app/checkpoint/checkpoint_fixture.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

using namespace bellwether;
using bellwether::test::CheckpointFixture;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("The first value that is not allowed is found at any position") {
  for (std::size_t const size : {std::size_t{1}, std::size_t{100}, std::size_t{10000}})
    for (std::size_t const at : {std::size_t{0}, size / 2, size - 1})
      for (float const value : {std::nanf(""), -std::nanf(""), infinite, -infinite, -1.0F, -1e-45F, -0.0F, 3e38F}) {
        CAPTURE(size, at, value);
        std::vector<float> values(size, 0.5F);
        values[at] = value;
        std::optional<std::int64_t> const here = static_cast<std::int64_t>(at);
        CHECK(app::first_unsound(values, ValueRange::finite) == (std::isfinite(value) ? std::nullopt : here));
        CHECK(app::first_unsound(values, ValueRange::not_negative) ==
              (std::isfinite(value) && value >= 0 ? std::nullopt : here));
        CHECK(!app::first_unsound(values, ValueRange::may_be_nan));
      }
  CHECK(!app::first_unsound({}, ValueRange::finite));
}

TEST_CASE("A checkpoint with invalid values is not completed, and the older one stays") {
  bool const asynchronous = GENERATE(true, false);
  CheckpointFixture run({.keep = 0, .asynchronous = asynchronous});
  run.save(1, 1);
  auto const refused = [&](std::int64_t step, app::TrainingState const& state, std::string const& text) {
    auto const save = [&] {
      run.checkpoints->save(step, "", state);
      run.checkpoints->wait();
    };
    CHECK_THROWS_AS(save(), app::UnsoundState);
    CHECK_THROWS_WITH(save(), ContainsSubstring("checkpoint not written: ") && ContainsSubstring(text));
    CHECK(!std::filesystem::exists(run.folder->step(step)));
  };
  auto owner = run.owner(2);
  owner.momentum[5] = std::nanf("");
  refused(2, owner.state(), "optimizer/momentum: value 5 is nan; allowed: finite numbers");
  owner = run.owner(2);
  owner.parameters[36] = infinite;
  refused(3, owner.state(), "parameters/bias: value 1 is inf; allowed: finite numbers");
  owner = run.owner(2);
  if (run.communicator.rank() == run.communicator.size() - 1) owner.mean_of_ranks[4] = -infinite;  // a per-rank value
  refused(4, owner.state(), "optimizer/worker/error: value 4 is -inf; allowed: finite numbers");
  owner = run.owner(2);
  owner.momentum[7] = -1;
  auto state = owner.state();
  auto const all = state.optimizer;
  state.optimizer = [&](StateVisitor& visit) { visit.array(replicated("variance").not_negative(), owner.momentum); };
  refused(5, state, "optimizer/variance: value 7 is -1; allowed: finite numbers from 0 on");
  CHECK(app::unsound_state(run.communicator, state).find("optimizer/variance: value 7 is -1") == 0);
  owner = run.owner(2);
  CHECK(app::unsound_state(run.communicator, owner.state()).empty());
  auto const found = run.checkpoints->find_latest();
  CHECK((found && found->step == 1));
}

TEST_CASE("Invalid state is reported with the rank that holds it") {
  auto& group = test::everyone();
  FakeOwner owner(group.rank(), group.size(), 1);
  int const last = group.size() - 1;
  if (group.rank() == last) owner.parameters[40] = std::nanf("");
  auto const found = app::unsound_state(group, owner.state());
  CHECK(found == (last > 0 ? "rank " + std::to_string(last) + ": " : "") +
                     "parameters/dense.weight: value 2 is nan; allowed: finite numbers");
}

TEST_CASE("The range of values holds for arrays of every placement") {
  CheckpointFixture run;
  auto owner = run.owner(1);
  owner.momentum[7] = -1;
  auto const size = std::ssize(owner.momentum);
  auto const spec = GENERATE_COPY(replicated("root"), partitioned("root", 0, size), per_rank("root", Reshard::mean),
                                  per_rank("root", Reshard::zero), held("root", 0, size));
  auto state = owner.state();
  state.optimizer = [&](StateVisitor& visit) { visit.array(spec.not_negative(), owner.momentum); };
  CHECK_THAT(app::unsound_state(run.communicator, state),
             ContainsSubstring("optimizer/root: value 7 is -1; allowed: finite numbers from 0 on"));
  state.optimizer = [&](StateVisitor& visit) { visit.array(spec, owner.momentum); };
  CHECK(app::unsound_state(run.communicator, state).empty());
}

TEST_CASE("Invalid values in a checkpoint are rejected and named with their tensor") {
  CheckpointFixture run;
  auto owner = run.owner(1);
  owner.momentum[37] = GENERATE(-2.5F, infinite);
  auto state = owner.state();
  state.optimizer = [&](StateVisitor& visit) {  // like programs that did not check values
    visit.array(replicated("variance").may_be_nan(), owner.momentum);
    visit.array(replicated("momentum").may_be_nan(), owner.momentum);
  };
  run.checkpoints->save(1, "", state);
  run.checkpoints->wait();
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  state.optimizer = [&](StateVisitor& visit) {
    visit.array(replicated("variance").not_negative(), owner.momentum);
    visit.array(replicated("momentum").may_be_nan(), owner.momentum);
  };
  CHECK_THROWS_WITH(run.checkpoints->load(*found, state),
                    ContainsSubstring("replicated.h5: optimizer/variance of bias: value 37 is ") &&
                        ContainsSubstring("allowed: finite numbers from 0 on; remove this checkpoint"));
  bool const finite = std::isfinite(owner.momentum[37]);
  state.optimizer = [&](StateVisitor& visit) {
    visit.array(replicated("variance").may_be_nan(), owner.momentum);
    visit.array(replicated("momentum"), owner.momentum);
  };
  if (finite)
    run.checkpoints->load(*found, state);
  else
    CHECK_THROWS_WITH(run.checkpoints->load(*found, state),
                      ContainsSubstring("optimizer/momentum of bias: value 37 is inf; allowed: finite numbers;"));
}

TEST_CASE("Counters in a checkpoint that are out of range are rejected") {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  CheckpointFixture run;
  auto owner = run.owner(1);
  auto state = owner.state();
  std::int64_t step = 0, kept = 0;
  auto const write = [&](StateVisitor& visit) {
    visit.scalar({"step"}, step);
    visit.scalar({"tokens"}, kept);
  };
  auto const read = [&](StateVisitor& visit) {
    visit.scalar(counter("step"), step);
    visit.scalar(counter("tokens", -1), kept);
  };
  std::int64_t at = 0;
  auto const load = [&](std::int64_t saved_step, std::int64_t saved_tokens) {
    step = saved_step;
    kept = saved_tokens;
    state.data = write;
    run.checkpoints->save(++at, "", state);
    run.checkpoints->wait();
    step = kept = 3;
    state.data = read;
    run.checkpoints->load(run.checkpoints->find_latest().value(), state);
  };
  load(1, StateVisitor::most_counted);
  CHECK((step == 1 && kept == StateVisitor::most_counted));
  load(2, -1);
  CHECK((step == 2 && kept == -1));
  for (std::int64_t const bad : {std::int64_t{-2}, StateVisitor::most_counted + 1, largest, -largest - 1}) {
    CHECK_THROWS_WITH(load(at + 1, bad), ContainsSubstring("replicated.h5: data/tokens: " + std::to_string(bad) +
                                                           "; allowed: -1 to 1152921504606846976"));
    CHECK((step == at && kept == 3));  // nothing may continue from this value
  }
  for (std::int64_t const bad : {std::int64_t{-1}, std::int64_t{16}, largest})
    CHECK_THROWS_WITH(load(bad, 1), ContainsSubstring("replicated.h5: data/step: " + std::to_string(bad) +
                                                      "; allowed: " + std::to_string(at) + ", as in the manifest"));
  // The optimizer's count of applied steps must be the same.
  std::int64_t applied = at + 2;
  state.optimizer = [&](StateVisitor& visit) { visit.scalar(counter("applied_steps"), applied); };
  CHECK_THROWS_WITH(load(at + 1, 1), ContainsSubstring("replicated.h5: optimizer/applied_steps: " +
                                                       std::to_string(at + 1) + "; allowed: " + std::to_string(at)));
}

TEST_CASE("Numbers in a checkpoint that are not finite or too small are rejected") {
  CheckpointFixture run;
  auto owner = run.owner(1);
  auto state = owner.state();
  double seconds = 0;
  std::int64_t at = 0;
  auto const load = [&](double saved) {
    seconds = saved;
    state.data = [&](StateVisitor& visit) { visit.scalar({"wall_seconds"}, seconds); };
    run.checkpoints->save(++at, "", state);
    run.checkpoints->wait();
    seconds = 3;
    state.data = [&](StateVisitor& visit) { visit.scalar(number("wall_seconds", 0), seconds); };
    run.checkpoints->load(run.checkpoints->find_latest().value(), state);
  };
  load(1.5);
  CHECK(seconds == 1.5);
  for (double const bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK_THROWS_WITH(load(bad), ContainsSubstring("replicated.h5: data/wall_seconds: ") &&
                                     ContainsSubstring("; allowed: finite numbers from 0 on"));
    CHECK(seconds == 3);
  }
}

TEST_CASE("The files of a checkpoint record the step of its manifest") {
  CheckpointFixture run;
  run.save(1, 1);
  test::on_rank_0([&] {
    auto manifest = app::CheckpointFolder(run.folder->path()).read_manifest(1);
    manifest.step = 2;
    std::filesystem::rename(run.folder->step(1), run.folder->step(2));
    std::ofstream(run.folder->step(2) + "/manifest") << manifest.text();
  });
  auto owner = run.owner(90);
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  CHECK_THROWS_WITH(run.checkpoints->load(*found, owner.state()),
                    ContainsSubstring("replicated.h5: /: attribute 'step' is 1; allowed: 2, as in the manifest"));
}

TEST_CASE("A rank's file of another step or rank is rejected") {
  CheckpointFixture run;
  run.save(1, 1);
  run.save(2, 2);
  int const last = run.communicator.size() - 1;
  auto const file = [&](int step) { return run.folder->step(step) + "/rank" + std::to_string(last) + ".h5"; };
  test::on_rank_0([&] {  // of the same size as the file it replaces, with valid checksums
    std::filesystem::copy_file(file(1), file(2), std::filesystem::copy_options::overwrite_existing);
    app::CheckpointFolder const folder(run.folder->path());
    auto manifest = folder.read_manifest(2);
    auto const older = folder.read_manifest(1);
    for (std::size_t i = 0; i < manifest.files.size(); ++i)
      if (manifest.files[i].name == "rank" + std::to_string(last) + ".h5") manifest.files[i] = older.files[i];
    std::ofstream(run.folder->step(2) + "/manifest") << manifest.text();
  });
  auto owner = run.owner(90);
  auto const found = run.checkpoints->find_latest();
  REQUIRE((found && found->step == 2));
  CHECK_THROWS_WITH(run.checkpoints->load(*found, owner.state()),
                    ContainsSubstring("/rank" + std::to_string(last) +
                                      ".h5: /: attribute 'step' is 1; allowed: 2, as in the manifest"));
}

TEST_CASE("A manifest that names fewer files, or another number of ranks, is rejected") {
  CheckpointFixture run;
  run.save(1, 1);
  int const ranks = run.communicator.size();
  bool const fewer = GENERATE(false, true);
  std::string const last = "rank" + std::to_string(ranks - 1) + ".h5";
  test::on_rank_0([&] {
    auto manifest = app::CheckpointFolder(run.folder->path()).read_manifest(1);
    if (fewer)
      std::erase_if(manifest.files, [&](auto const& file) { return file.name == last; });
    else
      ++manifest.ranks;
    std::ofstream(run.folder->step(1) + "/manifest") << manifest.text();
  });
  auto owner = run.owner(90);
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  auto const what = fewer ? "/" + last + ": is not named by the manifest, which therefore has no checksum of it"
                          : "replicated.h5: /: attribute 'ranks' is " + std::to_string(ranks) +
                                "; allowed: " + std::to_string(ranks + 1) + ", as in the manifest";
  CHECK_THROWS_WITH(run.checkpoints->load(*found, owner.state()), ContainsSubstring(what));
}

TEST_CASE("A folder with the name of another step is skipped") {
  CheckpointFixture run;
  run.save(1, 1);
  run.save(2, 2);
  test::on_rank_0([&] { std::filesystem::rename(run.folder->step(2), run.folder->step(3)); });
  auto const found = run.checkpoints->find_latest();
  REQUIRE((found && found->step == 1));
  if (run.communicator.rank() == 0) CHECK_THAT(run.warnings, ContainsSubstring("step_3/manifest: it records step 2"));
}
