// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/written_path.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <optional>

using namespace bellwether;
using namespace bellwether::input;
using Faults = std::vector<std::string>;

namespace {

/// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) {
    if (char const* const old = std::getenv(name)) before_ = old;
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;

 private:
  char const* name_;
  std::optional<std::string> before_;
};

std::string const tilde_rest = "', or './~/run' for a file or folder of this name";

}  // namespace

TEST_CASE("A path that begins with a tilde is rejected with the expanded path") {
  Variable const home("HOME", "/home/ada");
  DeckFolder const folder;
  std::filesystem::create_directories(folder.path() + "/~");  // as an earlier version would have created it
  CHECK(faults_of(folder.with_data("run:\n  directory: ~/run\n")) ==
        Faults{"deck.yaml:4:14: run.directory: '~/run' begins with ~, which is not expanded; write it out: "
               "'/home/ada/run" +
               tilde_rest});
  CHECK(fault_of_override("run.directory=~/run") ==
        "'~/run' begins with ~, which is not expanded; write it out: '/home/ada/run" + tilde_rest);
  CHECK(fault_of_override("run.directory=~bob") ==
        "'~bob' begins with ~, which is not expanded; write it out, or './~bob' for a file or folder of this name");
  for (std::string const quote : {"", "'", "\""})
    CHECK(faults_of(folder.source("data:\n  train: [shards/train, " + quote + "~/a.h5" + quote + "]\n")).size() == 1);
  CHECK(faults_of(folder.with_data("  heldout: ~/b.h5\n")).size() == 1);
  // Alone and unquoted, ~ is YAML's null.
  for (std::string const text : {"run:\n  directory: ~\n", "  heldout: ~\n", "  heldout: [~, a]\n"}) {
    auto const faults = faults_of(folder.with_data(text));
    REQUIRE(faults.size() == 1);
    INFO(faults[0]);
    CHECK((text.find('[') != std::string::npos || faults[0].find("write it out: '/home/ada'") != std::string::npos));
  }
  CHECK(fault_of_override("run.directory=~").starts_with("'~' begins with ~"));
  CHECK(faults_of(folder.source("data: {train: shards}\nrun: {directory: ~}\n")).size() == 1);
  CHECK(parse_deck(folder.with_data("run: {directory: ./~/run}\n")).run.directory == folder.path() + "/~/run");
  CHECK(parse_deck(folder.with_data("run: {directory: run~, name: ~x}\n")).run.directory == folder.path() + "/run~");
  Variable const none("HOME", nullptr);
  CHECK(fault_of_override("run.directory=~/run") ==
        "'~/run' begins with ~, which is not expanded; write it out, or './~/run' for a file or folder of this name");
}

TEST_CASE("A command or a URL in a path is refused with what to write") {
  DeckFolder const folder;
  Variable const set("BELLWETHER_TEST_USER", "ada");
  auto const refused = [&](std::string const& path) {
    auto const faults = faults_of(folder.with_data("run:\n  directory: \"" + path + "\"\n"));
    REQUIRE(faults.size() == 1);
    std::string const begin = "deck.yaml:4:14: run.directory: '" + path + "' ";
    REQUIRE(faults[0].starts_with(begin));
    CHECK(unexpanded_path(path, folder.path(), Tilde::where_it_exists) ==
          "'" + path + "' " + faults[0].substr(begin.size()));
    return faults[0].substr(begin.size());
  };
  std::string const rest = ", which is not expanded; write out what it stands for";
  CHECK(refused("run_$(date +%s)") == "holds $(date +%s)" + rest);
  CHECK(refused("a/`hostname`/b") == "holds `hostname`" + rest);
  CHECK(refused("$(basename ${BELLWETHER_TEST_USER}/x)") == "holds $(basename ${BELLWETHER_TEST_USER}/x)" + rest);
  for (std::string const braces : {"${}", "${1}", "${#}"}) CHECK(refused("run/" + braces) == "holds " + braces + rest);
  std::string const url = "is a URL, which is not opened; write a path of a file system that is mounted here";
  CHECK(refused("s3://bucket/run") == url);
  CHECK(refused("https://host/a.h5") == url);
  CHECK(refused("file:///data/run") == url + ": '/data/run'");
  for (std::string const path : {"run_(1)", "a$(b", "a`b", "$", "a:b", "./s3://x", "://x", "1://x", "$1", "a${b"})
    CHECK(faults_of(folder.with_data("run:\n  directory: \"" + path + "\"\n")).empty());
  std::filesystem::create_directories(folder.path() + "/$(date)/s3:");
  CHECK(faults_of(folder.with_data("run:\n  directory: $(date)/run\n")).empty());
  CHECK(unexpanded_path("s3://x", folder.path() + "/$(date)", Tilde::where_it_exists).empty());
}

TEST_CASE("A folder whose name is not UTF-8 is refused, because a resolved deck cannot hold it") {
  DeckFolder const folder;
  auto const odd = folder.path() + "/d\xff", shown = folder.path() + "/d\\xff";
  std::string const rest =
      " holds a byte that is not UTF-8, and a resolved deck cannot hold it; rename the folder, or write an absolute "
      "path "
      "over a link to it";
  std::filesystem::create_directories(odd);
  std::filesystem::copy(folder.path() + "/shards", odd + "/shards", std::filesystem::copy_options::recursive);
  auto source = folder.with_data("  heldout: shards/heldout\n");
  source.folder = odd;
  CHECK(faults_of(source) == Faults{"deck.yaml:2:10: data.train: " + shown + "/shards/train" + rest,
                                    "deck.yaml:3:12: data.heldout: " + shown + "/shards/heldout" + rest});
  source = folder.with_data("run:\n  directory: run\n");
  source.working_directory = odd;
  CHECK(faults_of(source) == Faults{"deck.yaml:4:14: run.directory: " + shown + "/run" + rest});
  CHECK_NOTHROW(parse_deck(source, DeckPaths::unused));
  std::filesystem::create_directory_symlink(odd, folder.path() + "/link");
  source = folder.source("data: {train: \"" + folder.path() + "/link/shards/train\"}\n");
  source.folder = odd;
  CHECK_NOTHROW(parse_deck(source));
}

TEST_CASE("A variable in a path is rejected unless a file or folder has that name") {
  Variable const set("BELLWETHER_TEST_USER", "ada"), unset("BELLWETHER_TEST_NONE", nullptr);
  DeckFolder const folder;
  auto const refused = [&](std::string const& path) {
    auto const faults = faults_of(folder.with_data("run:\n  directory: " + path + "\n"));
    REQUIRE(faults.size() == 1);
    std::string const begin = "deck.yaml:4:14: run.directory: '" + path + "' holds ";
    REQUIRE(faults[0].starts_with(begin));
    return faults[0].substr(begin.size());
  };
  CHECK(refused("data/$BELLWETHER_TEST_USER/x") ==
        "$BELLWETHER_TEST_USER, which is not expanded; write it out: 'data/ada/x'");
  CHECK(refused("/a-${BELLWETHER_TEST_USER}-b") ==
        "${BELLWETHER_TEST_USER}, which is not expanded; write it out: '/a-ada-b'");
  CHECK(refused("$BELLWETHER_TEST_NONE") ==
        "$BELLWETHER_TEST_NONE, which is not expanded; write out what it stands for (BELLWETHER_TEST_NONE is not set "
        "here)");
  CHECK(refused("${BELLWETHER_TEST_USER:-/x}/y") ==
        "${BELLWETHER_TEST_USER:-/x}, which is not expanded; write out what it stands for");
  CHECK(faults_of(folder.source("data:\n  train: $BELLWETHER_TEST_USER/a.h5\n")) ==
        Faults{"deck.yaml:2:10: data.train: '$BELLWETHER_TEST_USER/a.h5' holds $BELLWETHER_TEST_USER, which is not "
               "expanded; write it out: 'ada/a.h5'"});
  CHECK(fault_of_override("data.heldout=[$BELLWETHER_TEST_USER]").starts_with("'$BELLWETHER_TEST_USER' holds"));
  std::filesystem::create_directories(folder.path() + "/$BELLWETHER_TEST_USER");
  CHECK(parse_deck(folder.with_data("run: {directory: $BELLWETHER_TEST_USER/new}\n")).run.directory ==
        folder.path() + "/$BELLWETHER_TEST_USER/new");
  CHECK(faults_of(folder.with_data("run: {directory: $BELLWETHER_TEST_USER/$BELLWETHER_TEST_NONE}\n")).size() == 1);
  for (std::string const path : {"a$", "$1", "$$", "a$-b", "cost_5$"})
    CHECK(faults_of(folder.with_data("run: {directory: " + path + "}\n")) == Faults());
}

TEST_CASE("Patterns of batch systems in a path are found") {
  for (auto const& [path, pattern] :
       std::initializer_list<std::pair<std::string, std::string>>{{"run_%j", "%j"},
                                                                  {"/scratch/%u/run", "%u"},
                                                                  {"run_%A_%a", "%A"},
                                                                  {"run_%4a.d", "%4a"},
                                                                  {"%%j/%x", "%x"},
                                                                  {"50%/%J", "%J"}})
    CHECK(batch_pattern(path) == pattern);
  for (std::string const path :
       {"", "run", "%", "a%", "50%", "50%_off", "%%j", "100%job", "a%20b", "a%20jobs", "a%3ab", "%Y-%m-%d", "%2"})
    CHECK(batch_pattern(path).empty());
}

TEST_CASE("The command line accepts an existing name that begins with a tilde") {
  TemporaryFolder const folder;
  std::ofstream(folder / "~old.txt") << "x";
  CHECK(unexpanded_path("~old.txt", folder.path(), Tilde::where_it_exists).empty());
  CHECK_FALSE(unexpanded_path("~old.txt", folder.path(), Tilde::refused).empty());
  CHECK_FALSE(unexpanded_path("~/old.txt", folder.path(), Tilde::where_it_exists).empty());
  CHECK(unexpanded_path("", folder.path(), Tilde::refused).empty());
}
