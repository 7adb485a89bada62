// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/shard_files.hpp"
#include "tests/input/deck/deck_texts.hpp"

using namespace bellwether;

namespace fs = std::filesystem;
using Faults = std::vector<std::string>;

namespace {

/// Returns the faults of a deck that lists these entries as data.train.
Faults faults_of_list(DeckFolder const& folder, std::string const& entries) {
  return faults_of(folder.source("data:\n  train: [" + entries + "]\n"));
}

}  // namespace

TEST_CASE("A shard that two entries contain is rejected with both entries") {
  DeckFolder const folder;
  auto const at = folder.path() + "/shards/train";
  std::string const key = "deck.yaml:2:10: data.train: ";
  CHECK(faults_of_list(folder, "shards/train, shards/train/a.h5") ==
        Faults{key + at + "/a.h5 is listed twice, by " + at + " and by " + at + "/a.h5; list each shard once"});
  CHECK(faults_of_list(folder, "shards/train/a.h5, shards/train") ==
        Faults{key + at + "/a.h5 is listed twice, by " + at + "/a.h5 and by " + at + "; list each shard once"});
  CHECK(faults_of_list(folder, "shards/train, ./shards/train") ==
        Faults{key + at + " is listed twice; list each shard once"});
  CHECK(faults_of_list(folder, "shards/train, shards/train/") ==
        Faults{key + at + "/ is the same folder as " + at + "; list each folder once"});
  CHECK(faults_of_list(folder, "shards/train, shards/heldout").empty());
}

TEST_CASE("A shard that is listed again through a link is rejected with both names") {
  DeckFolder const folder;
  auto const at = folder.path() + "/shards/train";
  std::string const key = "deck.yaml:2:10: data.train: ";
  auto const same = [&](std::string const& other, std::string const& one) {
    return Faults{key + other + " is the same file as " + one + "; list each shard once"};
  };
  SECTION("a symbolic link next to it") {
    fs::create_symlink("a.h5", at + "/b.h5");
    CHECK(faults_of_list(folder, "shards/train") == same(at + "/b.h5", at + "/a.h5"));
  }
  SECTION("a hard link next to it") {
    fs::create_hard_link(at + "/a.h5", at + "/b.h5");
    CHECK(faults_of_list(folder, "shards/train") == same(at + "/b.h5", at + "/a.h5"));
  }
  SECTION("a hard link in another folder") {
    fs::create_hard_link(at + "/a.h5", folder.path() + "/empty/c.hdf5");
    CHECK(faults_of_list(folder, "shards/train, empty") == same(folder.path() + "/empty/c.hdf5", at + "/a.h5"));
  }
  SECTION("a link to the folder") {
    fs::create_directory_symlink(at, folder.path() + "/link");
    CHECK(faults_of_list(folder, "shards/train, link") ==
          Faults{key + folder.path() + "/link is the same folder as " + at + "; list each folder once"});
    CHECK(faults_of_list(folder, "shards/train, link/a.h5") == same(folder.path() + "/link/a.h5", at + "/a.h5"));
  }
  SECTION("many links are reported once") {
    for (char const name : {'b', 'c', 'd'}) fs::create_symlink("a.h5", at + "/" + name + ".h5");
    CHECK(faults_of_list(folder, "shards/train").size() == 1);
  }
}

TEST_CASE("A held-out shard that is listed twice is rejected") {
  DeckFolder const folder;
  auto const at = folder.path() + "/shards/heldout";
  CHECK(faults_of(folder.source("data:\n  train: shards/train\n  heldout: [shards/heldout, shards/heldout/b.h5]\n")) ==
        Faults{"deck.yaml:3:12: data.heldout: " + at + "/b.h5 is listed twice, by " + at + " and by " + at +
               "/b.h5; list each shard once"});
}

TEST_CASE("A hard link to a training shard is rejected as held-out data") {
  DeckFolder const folder;
  fs::create_hard_link(folder.path() + "/shards/train/a.h5", folder.path() + "/shards/heldout/a.h5");
  CHECK(faults_of(folder.source("data:\n  train: shards/train\n  heldout: shards/heldout\n")) ==
        Faults{"deck.yaml:3:12: data.heldout: " + folder.path() +
               "/shards/heldout/a.h5 is trained on, too, by data.train: " + folder.path() +
               "/shards/train; list shards that data.train does not contain"});
}

TEST_CASE("Extensions of shards may be upper case") {
  DeckFolder const folder;
  std::ofstream(folder.path() + "/shards/train/B.H5") << "x";
  std::ofstream(folder.path() + "/shards/train/c.Hdf5") << "x";
  CHECK(input::find_shards({folder.path() + "/shards/train"}).size() == 3);
}

TEST_CASE("A run directory that holds shards of the deck is rejected under every name") {
  DeckFolder const folder;
  auto const at = folder.path() + "/shards/";
  auto const faults = [&](std::string const& directory) {
    return faults_of(folder.source(
        "data:\n  train: shards/train\n  heldout: shards/heldout\nrun:\n  directory: " + directory + "\n"));
  };
  auto const refused = [&](std::string const& path, std::string const& list) {
    return Faults{"deck.yaml:5:14: run.directory: " + path + " is a folder of shards of data." + list +
                  ", and a run writes HDF5 files there; name another folder, which need not exist yet"};
  };
  CHECK(faults(at + "train") == refused(at + "train", "train"));
  CHECK(faults(at + "heldout") == refused(at + "heldout", "heldout"));
  CHECK(faults(at + "train/").front().starts_with("deck.yaml:5:14: run.directory: " + at + "train/ is a folder of"));
  fs::create_directory_symlink(at + "heldout", folder.path() + "/link");
  CHECK(faults(folder.path() + "/link") == refused(folder.path() + "/link", "heldout, " + at + "heldout"));
  for (auto const* written : {"checkpoints", "statistics"}) {
    auto const run = folder.path() + "/run_" + written;
    fs::create_directory(run);
    fs::create_directory_symlink(at + "train", run + "/" + written);
    CHECK(faults(run) == refused(run + "/" + written, "train, " + at + "train"));
  }
  CHECK(faults(at + "train/run").empty());
  CHECK(faults(folder.path() + "/shards").empty());
}
