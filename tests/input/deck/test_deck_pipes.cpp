// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_tree.hpp"
#include "input/files/yaml_document.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <unistd.h>

using namespace bellwether;
using namespace bellwether::input;
using Faults = std::vector<std::string>;

namespace {

/// Replaces standard input by another descriptor during its lifetime.
class StandardInput {
 public:
  explicit StandardInput(std::string const& text) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    ::dup2(ends[0], 0);
    ::close(ends[0]);
  }
  ~StandardInput() {
    ::dup2(before_, 0);
    ::close(before_);
  }
  StandardInput(StandardInput const&) = delete;
  StandardInput& operator=(StandardInput const&) = delete;

 private:
  int before_ = ::dup(0);
};

}  // namespace

TEST_CASE("A deck from a pipe is relative to the working directory") {
  auto const here = std::filesystem::current_path().string();
  for (std::string const path : {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    INFO(path);
    StandardInput const given("data: {train: shards}\n");
    auto const source = read_deck_source(path, {});
    CHECK(source.path == "standard input");
    CHECK(source.text == "data: {train: shards}\n");
    CHECK(source.folder == here);
  }
  auto source = [] {
    StandardInput const given("data: {train: nowhere}\nrun: {directory: .}\n");
    return read_deck_source("-", {});
  }();
  CHECK(faults_of(source) == Faults{"standard input:1:15: data.train: " + here +
                                    "/nowhere does not exist; allowed: HDF5 files or folders of them"});
  CHECK(parse_deck(source, DeckPaths::unused).run.directory == here);

  TemporaryFolder const folder;
  std::ofstream(folder / "deck.yaml") << "data: {train: shards}\n";
  int const file = ::open((folder / "deck.yaml").c_str(), O_RDONLY);
  auto const number = "/dev/fd/" + std::to_string(file);
  CHECK(read_deck_source(number, {}).folder == here);
  ::close(file);
  CHECK(read_deck_source(folder / "deck.yaml", {}).folder == folder.path());
  auto const refused = [](std::string const& path) -> std::string {
    try {
      read_document(path, "a deck");
    } catch (InputError const& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused(number) ==
        number +
            ": is not open here: launchers pass on only standard input, and only to rank 0. Use a file, or - with a "
            "deck on standard input; a deck is a YAML file");
  StandardInput const nothing("");
  CHECK(refused("-") == "standard input: is empty; a deck is a YAML file");
}

TEST_CASE("An endless deck is rejected by its size") {
  int const before = ::dup(0), endless = ::open("/dev/zero", O_RDONLY);
  ::dup2(endless, 0);
  auto const document = read_document("-", "a deck");
  ::dup2(before, 0);
  for (int const file : {before, endless}) ::close(file);
  std::vector<SyntaxFault> faults;
  parse_tree(document.text, faults);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].what == "larger than 1 MiB; allowed: up to 1 MiB");
}
