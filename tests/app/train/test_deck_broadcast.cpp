// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/commands.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/given_options.hpp"
#include "app/train/deck_broadcast.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "tests/input/temporary_folder.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <filesystem>
#include <fstream>

using namespace bellwether;
using app::CommonError;

namespace {

std::vector<std::string> faults_of(std::function<void()> const& work) {
  try {
    work();
  } catch (CommonError const& error) {
    return error.faults();
  }
  return {};
}

comm::Communicator& ranks() { return test::world().communicator(); }

}  // namespace

TEST_CASE("Rank 0 reads the deck for all ranks") {
  TemporaryFolder const folder;  // a different folder on each rank
  auto const path = folder / "deck.yaml";
  if (ranks().rank() == 0) {
    std::filesystem::create_directory(folder / "shards");
    std::ofstream(folder / "shards/a.h5") << "x";
    std::ofstream(path) << "data:\n  train: [shards]\nbatch:\n  global: 64\n";
  }
  // Command lines of other ranks are ignored.
  auto const overrides = ranks().rank() == 0 ? std::vector<std::string>{"batch.micro=5", "optimizer.lr=0.5"}
                                             : std::vector<std::string>{"batch.micro=7"};
  auto const shared = app::read_shared_deck(ranks(), path, overrides);
  CHECK(shared.deck.batch.global == 64);
  CHECK(shared.deck.batch.micro == 5);
  CHECK(shared.deck.optimizer.lr == 0.5);
  CHECK(std::filesystem::exists(shared.deck.data.train.at(0) + "/a.h5"));
  ranks().barrier("bellwether::test::before_removal");
}

TEST_CASE("A deck's faults are the same on every rank") {
  TemporaryFolder const folder;
  auto const path = folder / "deck.yaml";
  if (ranks().rank() == 0) std::ofstream(path) << "data:\n  train: [nowhere]\nbatch:\n  global: 0\n";
  auto const faults = faults_of([&] { app::read_shared_deck(ranks(), path, {}); });
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].find("data.train: ") != std::string::npos);
  CHECK(faults[1].ends_with(
      "deck.yaml:4:11: batch.global: '0' is out of range; allowed: a whole number from 1 to 16777216"));
}

TEST_CASE("A deck that cannot be read is reported once") {
  auto const faults = faults_of([&] { app::read_shared_deck(ranks(), "no_such_deck.yaml", {}); });
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] == "no_such_deck.yaml: cannot be read (No such file or directory); a deck is a YAML file");
}

TEST_CASE("Ranks with equal facts start") {
  CHECK_NOTHROW(app::require_equal_start(ranks(), app::start_facts(0x1234)));
}

TEST_CASE("A different layout, version or build on one rank is an error on all ranks") {
  if (ranks().size() == 1) return;
  int const odd = ranks().size() - 1;
  std::uint64_t const layout = ranks().rank() == odd ? 0xbeef : 0xfeed;
  auto const who = "rank " + std::to_string(odd) + ": ";
  CHECK(faults_of([&] { app::require_equal_start(ranks(), app::start_facts(layout)); }) ==
        std::vector{
            who +
            "layout is 000000000000beef, on rank 0 000000000000feed; start the same program and deck on every rank"});
  std::string const version = ranks().rank() == odd ? "0.2" : "0.1";
  std::vector<app::StartFact> const facts = {{"program version", version}, {"build options", "O" + version}};
  CHECK(faults_of([&] { app::require_equal_start(ranks(), facts); }) ==
        std::vector<std::string>{
            who + "program version is 0.2, on rank 0 0.1; start the same program and deck on every rank",
            "build options is O0.2, on rank 0 O0.1; start the same program and deck on every rank"});
}

TEST_CASE("Ranks with the same command line start") {
  CHECK_NOTHROW(app::require_same_command(ranks(), {"0.1", "train", {{"deck", "a.yaml"}, {"--resume", ""}}}));
}

TEST_CASE("Differences between command lines are reported by name on all ranks") {
  int const size = ranks().size();
  if (size == 1) return;
  bool const odd = ranks().rank() == size - 1;
  auto const at_odd = " on rank " + std::to_string(size - 1);
  std::string const at_others = size == 2 ? " on rank 0" : " on ranks 0 to " + std::to_string(size - 2);
  auto const told = [&](app::GivenCommand const& mine) {
    return faults_of([&] { app::require_same_command(ranks(), mine); });
  };
  app::GivenCommand train{"0.1", "train", {{"deck", "a.yaml"}}}, resumed = train, changed = train;
  resumed.options.push_back({"--resume", ""});
  CHECK(told(odd ? resumed : train) == std::vector<std::string>{"--resume is not given" + at_others + " and given" +
                                                                at_odd + "; give every rank the same options"});
  changed.options = {{"deck", "b.yaml"}, {"--log", ""}};
  CHECK(told(odd ? train : changed) ==
        std::vector<std::string>{
            "deck is b.yaml" + at_others + " and a.yaml" + at_odd + "; give every rank the same options",
            "--log is given" + at_others + " and not given" + at_odd + "; give every rank the same options"});
  // Options of two different commands cannot be compared.
  app::GivenCommand const check{"0.1", "check", {{"deck", "b.yaml"}}}, newer{"0.2", "train", {{"deck", "a.yaml"}}};
  CHECK(told(odd ? check : train) == std::vector<std::string>{"the command is train" + at_others + " and check" +
                                                              at_odd + "; start the same command on every rank"});
  CHECK(told(odd ? newer : check) == std::vector<std::string>{"the program is 0.1" + at_others + " and 0.2" + at_odd +
                                                              "; start the same program on every rank"});
}

TEST_CASE("Options of command lines are compared by name, in any order") {
  auto const words = std::to_array<char const*>({"bellwether", "train", "--set", "b.c=1", "--log=json", "--set",
                                                 "a.b=x=y", "a.yaml", "--resume", "--set", "b.c=2"});
  auto const line = app::read_command_line(static_cast<int>(words.size()), words.data(), {app::add_train});
  CHECK(line.fault.empty());
  CHECK(line.given.command == "train");
  CHECK(line.given.options ==
        std::vector<app::GivenOption>{
            {"deck", "a.yaml"}, {"--set b.c", "1, 2"}, {"--set a.b", "x=y"}, {"--resume", ""}, {"--log", "json"}});
}

TEST_CASE("Faults found after the deck was read get file, line and column") {
  input::DeckSource const source{"deck.yaml", "data:\n  train: [a]\n  heldout: b\n", {"batch.global=4"}, "/x", "/x"};
  auto const faults = faults_of([&] {
    app::with_places(source, [] {
      throw CommonError({"data.heldout: a.h5: not good", "batch.global: too many", "run.seed: a default",
                         "a disk: full", "rank 2: data.heldout: b.h5: not good"});
    });
  });
  CHECK(faults == std::vector<std::string>{"deck.yaml:3:12: data.heldout: a.h5: not good",
                                           "--set batch.global=4: too many", "run.seed: a default", "a disk: full",
                                           "rank 2: deck.yaml:3:12: data.heldout: b.h5: not good"});
}
