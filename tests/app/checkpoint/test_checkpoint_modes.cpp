// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Modes of writing checkpoints: from a copy or directly from the state, with exact residuals or their mean. Also tests
/// what happens to a checkpoint that cannot be written.
#include "app/checkpoint/checkpoint_entries.hpp"
#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/checkpoint/checksum.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "app/commands/inspect.hpp"
#include "comm/collective/replica_mean.hpp"
#include "core/system/error.hpp"
#include "tests/app/checkpoint/checkpoint_fixture.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

app::TrainingState averaging(FakeOwner& owner, comm::Communicator& ranks) {
  auto state = owner.state();
  state.replica_mean = [&ranks](std::span<float const> slice, std::int64_t first, std::int64_t total) {
    return comm::replica_mean(ranks, slice, first, total);
  };
  return state;
}

/// Returns the names of the data sets below a group.
std::vector<std::string> data_sets(input::Hdf5File const& file, std::string const& group) {
  std::vector<std::string> found;
  for (auto const& name : file.list(group)) {
    auto const path = group == "/" ? name : group + "/" + name;
    auto const inside = file.is_group(path) ? data_sets(file, path) : std::vector{path};
    found.insert(found.end(), inside.begin(), inside.end());
  }
  return found;
}

/// Returns the lines of `inspect` that report damage.
std::vector<std::string> damage_in(std::string const& path) {
  std::stringstream told;
  app::inspect(path, {.damaged = true}, told);
  std::vector<std::string> lines;
  for (std::string line; std::getline(told, line);)
    if (line.find("DAMAGED") != std::string::npos) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("Waiting long for a checkpoint causes warnings") {
  CheckpointFixture run({.keep = 0, .patience = 0.2});
  auto held = run.io.submit(input::IoThread::Priority::checkpoint,
                            [] { std::this_thread::sleep_for(std::chrono::milliseconds(700)); });
  run.save(3, 1);
  held.get();
  if (everyone().rank() == 0)
    CHECK_THAT(run.warnings,
               ContainsSubstring("step 3: training has waited for 0 s for its checkpoint to be written to " +
                                 run.folder->step(3) + ".part\n"));
  else
    CHECK(run.warnings.empty());
  CHECK(run.checkpoints->find_latest().has_value());
}

TEST_CASE("Every data set has a checksum, by which inspect finds damaged ones") {
  bool const asynchronous = GENERATE(true, false);
  CheckpointFixture run({.keep = 0, .asynchronous = asynchronous});
  run.save(1, 0.5F);
  on_rank_0([&] {
    int checked = 0;
    for (auto const* name : {"/replicated.h5", "/rank0.h5"}) {
      auto const path = run.folder->step(1) + name;
      if (!fs::exists(path)) continue;
      auto const file = input::Hdf5File::open(path);
      for (auto const& data_set : data_sets(file, "/")) {
        INFO(path << ' ' << data_set);
        CHECK(file.attribute(data_set, app::checksum_name).has_value());
        ++checked;
      }
      CHECK(damage_in(path).empty());
    }
    CHECK(checked > 6);

    auto const path = run.folder->step(1) + "/replicated.h5";
    auto const name = [&] {
      auto const names = data_sets(input::Hdf5File::open(path), "parameters");
      return names.back();
    }();
    auto const values = input::Hdf5File::open(path).read<float>(name);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::string const wanted(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float));
    auto const at = bytes.find(wanted);
    REQUIRE(at != std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(bytes[at] ^ 1));
    file.close();
    auto const lines = damage_in(path);
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines.front(),
               ContainsSubstring("/" + name + "  float32") && ContainsSubstring("DAMAGED: its checksum does not hold"));
    std::ostringstream told;
    CHECK_THROWS_WITH(app::inspect(path, {}, told),
                      ContainsSubstring("replicated.h5: damaged: its checksum does not match; inspect --damaged"));
    CHECK(told.str().empty());
  });
}

TEST_CASE("Checkpoints with and without a copy are equal") {
  CheckpointFixture copied, direct({.keep = 0, .asynchronous = false});
  bool const mean = GENERATE(false, true);
  std::vector<std::vector<float>> residuals;
  std::map<std::string, std::uintmax_t> files[2];
  for (auto* const run : {&copied, &direct}) {
    auto owner = run->owner(0.5F), loaded = run->owner(90);
    owner.has_refused = loaded.has_refused = true;
    run->checkpoints->save(3, "run: {}\n", mean ? averaging(owner, everyone()) : owner.state());
    if (run == &direct) CHECK(run->checkpoints->last_complete() == 3);  // it is complete when save() returns
    run->checkpoints->wait();
    auto const found = run->checkpoints->find_latest();
    REQUIRE(found.has_value());
    CHECK(found->deck == "run: {}\n");
    run->checkpoints->load(*found, loaded.state());
    check_equal(loaded, owner);
    CHECK(loaded.zeroed == owner.zeroed);
    CHECK(loaded.refused == owner.refused);
    residuals.push_back(loaded.mean_of_ranks);
    for (auto const& file : fs::directory_iterator(run->folder->step(3)))
      files[run == &direct][file.path().filename()] = fs::file_size(file.path());
  }
  CHECK(residuals[0] == residuals[1]);
  CHECK(std::ssize(files[0]) == 2 + everyone().size());  // including the manifest and the file of replicated state
  CHECK(files[0] == files[1]);
}

TEST_CASE("Residuals averaged on saving resume like residuals averaged on loading") {
  int const size = everyone().size(), rank = everyone().rank();
  CheckpointFixture exact, mean;
  auto owner = exact.owner(0.25F);
  // Not sums of powers of two, so that means are rounded.
  for (std::size_t i = 0; i < owner.mean_of_ranks.size(); ++i)
    owner.mean_of_ranks[i] = 1.0F / static_cast<float>(3 + rank + 7 * static_cast<int>(i));
  exact.checkpoints->save(1, "", owner.state());
  exact.checkpoints->wait();
  mean.checkpoints->save(1, "", averaging(owner, everyone()));
  mean.checkpoints->wait();

  auto const found = mean.checkpoints->find_latest();
  REQUIRE(found.has_value());
  auto same = mean.owner(90);
  mean.checkpoints->load(*found, same.state());
  check_equal(same, owner);  // everything else is per rank
  for (std::size_t i = 0; i < same.mean_of_ranks.size(); ++i) {
    double sum = 0;
    for (int r = 0; r < size; ++r)
      sum += static_cast<double>(1.0F / static_cast<float>(3 + r + 7 * static_cast<int>(i)));
    REQUIRE(same.mean_of_ranks[i] == static_cast<float>(sum / size));
  }
  for (int readers = 1; readers < size; ++readers) {
    auto const some = everyone().split(rank < readers ? 0 : 1, 0);
    if (rank >= readers) continue;
    std::vector<float> read[2];
    for (auto* const run : {&exact, &mean}) {
      CheckpointFixture again({}, *some, run->folder);
      auto loaded = again.owner(90);
      auto const latest = again.checkpoints->find_latest();
      REQUIRE(latest.has_value());
      again.checkpoints->load(*latest, loaded.state());
      read[run == &mean] = loaded.mean_of_ranks;
    }
    CHECK(read[0] == read[1]);
  }
}

TEST_CASE("The mean is over the ranks that hold an element, for any slices") {
  auto& ranks = everyone();
  int const size = ranks.size(), rank = ranks.rank();
  // More than one round of 16 MiB. The ranks' slices overlap; with three ranks one slice is empty.
  std::int64_t const total = (std::int64_t{5} << 20) + 17;
  auto const held = [&](int r) {
    if (size >= 3 && r == 1) return comm::Part{40, 40};
    std::int64_t const first = r == 0 ? 0 : total / 3 * r / size;
    return comm::Part{first, r == size - 1 ? total : std::min(total, first + total * 2 / 3)};
  };
  auto const value = [](int r, std::int64_t k) { return static_cast<float>((k * 7919 + r * 104729) % 1000) / 7.0F; };
  auto const own = held(rank);
  Vec<float> const values("bellwether::test::held", static_cast<std::size_t>(own.size()));
  auto const host = Kokkos::create_mirror_view(values);
  for (std::int64_t k = own.first; k < own.last; ++k) host(static_cast<std::size_t>(k - own.first)) = value(rank, k);
  Kokkos::deep_copy(values, host);
  auto const found = comm::replica_mean(ranks, {values.data(), values.size()}, own.first, total);
  auto const part = comm::part_of(total, rank, size);
  REQUIRE(std::ssize(found) == part.size());
  std::int64_t wrong = 0;
  for (std::int64_t k = part.first; k < part.last; ++k) {
    double sum = 0, holders = 0;
    for (int r = 0; r < size; ++r)
      if (auto const theirs = held(r); theirs.first <= k && k < theirs.last) {
        sum += static_cast<double>(value(r, k));
        ++holders;
      }
    wrong += found[static_cast<std::size_t>(k - part.first)] != static_cast<float>(sum / holders) ? 1 : 0;
  }
  CHECK(wrong == 0);
  // The parts of all ranks follow each other and cover the vector.
  CHECK(comm::part_of(total, 0, size).first == 0);
  CHECK(comm::part_of(total, size - 1, size).last == total);
  if (rank > 0) CHECK(comm::part_of(total, rank - 1, size).last == part.first);
  std::int64_t const longer = total + 1;
  CHECK_THROWS_AS(comm::replica_mean(ranks, {values.data(), values.size()}, own.first, longer), InternalError);
}

TEST_CASE("The bytes of a checkpoint are known before it is written") {
  CheckpointFixture run;
  auto owner = run.owner(0.5F);
  int const size = everyone().size(), rank = everyone().rank();
  auto const own = std::ssize(owner.slice) + 2 * FakeOwner::width;
  auto const shared = rank == 0 ? std::ssize(owner.parameters) + std::ssize(owner.momentum) : 0;
  CHECK(app::checkpoint_bytes(owner.state(), rank, size) == 4 * (own + shared));
  auto const saved = FakeOwner::width - comm::part_of(FakeOwner::width, rank, size).size();
  CHECK(app::checkpoint_bytes(averaging(owner, everyone()), rank, size) == 4 * (own + shared - saved));
}

TEST_CASE("A full disk on one rank is reported on all ranks and leaves the old checkpoint") {
  bool const asynchronous = GENERATE(true, false);
  CheckpointFixture run({.keep = 1, .asynchronous = asynchronous});
  run.save(1, 1);
  // A limit on file sizes simulates a full disk: the same calls fail.
  int const unlucky = everyone().size() - 1;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  for (rlim_t const bytes : {rlim_t{0}, rlim_t{1500}, rlim_t{4000}}) {
    rlimit const small{bytes, limit.rlim_max};
    std::string message;
    if (everyone().rank() == unlucky) setrlimit(RLIMIT_FSIZE, &small);
    try {
      run.save(2, 2);
    } catch (RuntimeError const& error) {
      message = error.what();
    }
    if (everyone().rank() == unlucky) setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_THAT(message, ContainsSubstring("checkpoint not written: ") && ContainsSubstring("step_2.part/") &&
                            ContainsSubstring("File too large"));
    CHECK_THAT(message, !ContainsSubstring("\n"));
    if (everyone().size() > 1) CHECK_THAT(message, ContainsSubstring("rank " + std::to_string(unlucky) + ": "));
  }
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found.has_value());
  CHECK(found->step == 1);
  auto loaded = run.owner(90);
  run.checkpoints->load(*found, loaded.state());
  check_equal(loaded, run.owner(1));
  run.save(3, 3);
  CHECK(run.checkpoints->last_complete() == 3);
}

TEST_CASE("a link in the place of a checkpoint is replaced, wherever it leads") {
  std::string const target = GENERATE("nowhere", "step_2");
  CheckpointFixture run;
  on_rank_0([&] {
    fs::create_directories(run.folder->path() + "/checkpoints");
    fs::create_directory_symlink(target, run.folder->step(2));
  });
  run.save(2, 2);
  everyone().barrier("bellwether::test::saved");
  CHECK_FALSE(fs::is_symlink(run.folder->step(2)));
  CHECK_FALSE(fs::exists(fs::symlink_status(run.folder->step(2) + ".replaced")));
  auto const found = run.checkpoints->find_latest();
  REQUIRE(found);
  CHECK(found->step == 2);
}

TEST_CASE("A step is saved again only if batches were skipped since") {
  CheckpointFixture run({.keep = 1});
  auto const save = [&](std::int64_t position, float salt) {
    auto owner = run.owner(salt);
    auto state = owner.state();
    state.position = [position] { return position; };
    run.checkpoints->save(4, "", state);
    run.checkpoints->wait();
  };
  auto const holds = [&](float salt) {
    auto owner = run.owner(90);
    run.checkpoints->load(run.checkpoints->find_latest().value(), owner.state());
    check_equal(owner, run.owner(salt));
  };
  save(10, 1);
  save(10, 2);
  holds(1);
  save(12, 3);
  holds(3);
  CHECK(run.warnings.empty());
  CHECK_FALSE(fs::exists(run.folder->step(4) + ".replaced"));
}

TEST_CASE("Checkpoints of killed jobs are completed or removed") {
  CheckpointFixture run;
  for (int step = 1; step <= 3; ++step) run.save(step, static_cast<float>(step));
  auto const step = [&](int n) { return run.folder->step(n); };
  on_rank_0([&] {
    fs::rename(step(3), step(3) + ".part");      // killed before the last rename
    fs::rename(step(2), step(2) + ".replaced");  // killed between the two renames, with an incomplete new checkpoint
    fs::create_directories(step(2) + ".part");
    fs::copy(step(1), step(1) + ".replaced", fs::copy_options::recursive);  // killed after both renames
    fs::create_directories(step(5) + ".part");
    fs::create_directory_symlink(step(1), step(6) + ".part");
  });
  auto const found = run.checkpoints->find_latest();
  REQUIRE((found && found->step == 3));
  auto owner = run.owner(90);
  run.checkpoints->load(*found, owner.state());
  check_equal(owner, run.owner(3));
  on_rank_0([&] {
    app::CheckpointFolder const folder(run.folder->path());
    CHECK(folder.steps() == std::vector<std::int64_t>{3, 2, 1});
    CHECK(folder.unfinished().empty());
    for (int n = 1; n <= 3; ++n) CHECK(folder.has_manifest(n));
    for (int const n : {2, 5, 6})
      CHECK_THAT(run.warnings, ContainsSubstring("step_" + std::to_string(n) + ".part: incomplete; removed\n"));
    CHECK(std::ranges::count(run.warnings, '\n') == 3);
  });
}

TEST_CASE("A checkpoint that could not be written leaves no files") {
  CheckpointFixture run;
  run.save(1, 1);
  auto owner = run.owner(2);
  owner.momentum[5] = std::numeric_limits<float>::infinity();
  run.checkpoints->save(2, "", owner.state());
  CHECK_THROWS_AS(run.checkpoints->wait(), app::UnsoundState);
  everyone().barrier("bellwether::test::refused");
  CHECK_FALSE(fs::exists(run.folder->step(2) + ".part"));
  CHECK(fs::exists(run.folder->step(1)));
}
