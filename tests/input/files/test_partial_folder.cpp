// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/files/lock_file.hpp"
#include "input/files/no_room.hpp"
#include "input/files/partial_folder.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

using namespace bellwether;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string contents(std::string const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Lets this process open only `count` more files until the end of the scope.
class FewFiles {
 public:
  explicit FewFiles(int count) {
    int const lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowest);
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest + count);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(FewFiles const&) = delete;
  FewFiles& operator=(FewFiles const&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("Too many open files are no fault of a path and leave nothing behind") {
  TemporaryFolder const folder;
  auto const is_empty = [&] { return std::filesystem::is_empty(folder.path()); };
  CHECK_THROWS_AS(input::throw_unwritable("a", EMFILE), input::NoRoom);
  CHECK_THROWS_AS(input::throw_unreadable("a", ENFILE), input::NoRoom);
  CHECK_THROWS_AS(input::throw_unreadable("a", EACCES), InputError);
  {
    FewFiles const few(0);
    CHECK_THROWS_AS(input::PartialFolder(folder / "new/out"), input::NoRoom);
    CHECK_THROWS_AS(input::PartialFile(folder / "file", "is there"), input::NoRoom);
  }
  CHECK(is_empty());
  {
    FewFiles const few(1);  // for the lock; none is left to list the folder
    input::PartialFolder const partial(folder / "new/out");
    CHECK(std::filesystem::exists(partial.path()));
  }
  CHECK(is_empty());
  std::filesystem::create_directory(folder / "out");
  {
    FewFiles const few(0);
    CHECK_THROWS_AS(input::PartialFolder(folder / "out"), input::NoRoom);
  }
  CHECK(std::filesystem::is_empty(folder / "out"));
  CHECK_FALSE(std::filesystem::exists(folder / "out.partial"));
}

TEST_CASE("A lock file that is not a file is named as what it is") {
  TemporaryFolder const folder;
  auto const refused = [](std::string const& path, std::string const& what) {
    CHECK_THROWS_MATCHES(input::LockFile(path), RuntimeError,
                         Catch::Matchers::Message(path + ": is " + what + "; allowed: a file, or nothing; remove it"));
  };
  std::ofstream(folder / "file") << "x";
  std::filesystem::create_symlink(folder / "file", folder / "link");
  std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder / "folder");
  refused(folder / "link", "a link");
  refused(folder / "dangling", "a link");
  refused(folder / "pipe", "a pipe, a device or a socket");
  refused(folder / "folder", "a folder");
  CHECK_FALSE(std::filesystem::exists(folder / "nowhere"));
  CHECK(input::LockFile(folder / "file").state() == input::LockFile::State::held);
  CHECK(input::LockFile(folder / "new").state() == input::LockFile::State::held);
}

TEST_CASE("A full disk is no fault of a path") {
  CHECK_THROWS_AS(input::throw_unwritable("a", ENOSPC), input::NoRoom);
  CHECK_THROWS_AS(input::throw_unwritable("a", EDQUOT), input::NoRoom);
  CHECK_THROWS_WITH(input::throw_unwritable("a", EFBIG), "a: File too large");
  CHECK_THROWS_AS(input::throw_unwritable("a", EACCES), InputError);
  CHECK_THROWS_AS(input::throw_unwritable("a", ENOENT), InputError);
}

TEST_CASE("A kept file appears, but never replaces one that appeared meanwhile") {
  TemporaryFolder const folder;
  auto const path = folder / "vocab.txt";
  {
    input::PartialFile late(path, "is there");
    late.write("late");
    CHECK_FALSE(std::filesystem::exists(path));
    std::ofstream(path) << "early";
    CHECK_THROWS_WITH(late.keep(), ContainsSubstring("vocab.txt: cannot be written: File exists"));
  }
  CHECK(contents(path) == "early");
  {
    input::PartialFile file(folder / "other.txt", "is there");
    file.write("kept");
    file.keep();
  }
  CHECK(contents(folder / "other.txt") == "kept");
  std::filesystem::remove(folder / "other.txt");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK_THROWS_AS(input::PartialFile(path, "is there"), InputError);
}

TEST_CASE("A lock file is lost if its name is gone or refers to another file") {
  TemporaryFolder const folder;
  auto const run = folder / "run", aside = folder / "aside";
  std::filesystem::create_directory(run);
  input::LockFile const lock(run + "/.lock");
  CHECK_FALSE(lock.is_lost());
  std::filesystem::rename(run, aside);
  CHECK(lock.is_lost());
  std::filesystem::create_directory(run);
  CHECK(lock.is_lost());
  {
    input::LockFile const other(run + "/.lock");
    CHECK(other.state() == input::LockFile::State::held);
    CHECK(lock.is_lost());
    CHECK_FALSE(other.is_lost());
  }
  std::filesystem::remove_all(run);
  std::ofstream(run) << "no folder";
  CHECK(lock.is_lost());
  std::filesystem::remove(run);
  std::filesystem::rename(aside, run);
  CHECK_FALSE(lock.is_lost());
}

TEST_CASE("A finished folder that cannot be renamed is kept") {
  TemporaryFolder const folder;
  {
    input::PartialFolder finished(folder / "out");
    std::ofstream(folder / "out.partial/shard") << "rows";
    std::filesystem::create_directory(folder / "out");
    std::ofstream(folder / "out/notes") << "mine";
    CHECK_THROWS_WITH(finished.keep(), ContainsSubstring("cannot rename the finished folder") &&
                                           ContainsSubstring("; the result is in " + folder / "out.partial"));
  }
  CHECK(contents(folder / "out.partial/shard") == "rows");
  CHECK(contents(folder / "out/notes") == "mine");
  std::filesystem::remove_all(folder / "out");
  CHECK_THROWS_WITH(input::PartialFolder(folder / "out"), ContainsSubstring("was not made by prepare"));
  CHECK(contents(folder / "out.partial/shard") == "rows");
}

TEST_CASE("A folder that another call replaced is neither kept nor removed") {
  TemporaryFolder const folder;
  auto const partial = folder / "out.partial";
  {
    input::PartialFolder suspended(folder / "out");
    std::filesystem::remove_all(partial);
    input::PartialFolder other(folder / "out");
    std::ofstream(partial + "/shard") << "other";
    CHECK_THROWS_WITH(suspended.keep(), ContainsSubstring("out.partial: was removed, renamed or replaced during"));
    other.keep();
    std::filesystem::create_directory(partial);
  }
  CHECK(contents(folder / "out/shard") == "other");
  CHECK(std::filesystem::exists(partial));
}
