// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/files/regular_file.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/unopened_file.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("data sets read back as written", "[hdf5]") {
  TemporaryFolder const folder;
  std::vector<std::int32_t> values(7 * 5);
  std::iota(values.begin(), values.end(), -3);
  {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write<std::int32_t>("group/deep/matrix", {7, 5}, values, {.chunk = {2, 5}, .gzip = 4, .shuffle = true});
    file.write<float>("scalar", {}, std::vector<float>{2.5f});
    file.write<std::uint16_t>("empty", {0}, std::vector<std::uint16_t>{});
    file.create_data_set("grown", ElementType::i64, {0, 2},
                         {.chunk = {4, 2}, .gzip = 1, .shuffle = true, .grows = true});
    file.append_rows<std::int64_t>("grown", 3, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
    file.append_rows<std::int64_t>("grown", 2, std::vector<std::int64_t>{7, 8, 9, 10});
    file.create_group("nothing/inside");
    file.close();
  }
  auto const file = Hdf5File::open(folder / "a.h5");
  CHECK(file.read<std::int32_t>("group/deep/matrix") == values);
  CHECK(file.read<float>("scalar") == std::vector<float>{2.5f});
  CHECK(file.read<std::uint16_t>("empty").empty());
  CHECK(file.read<std::int16_t>("grown") == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  std::vector<std::int8_t> box(4);
  file.read_slab<std::int8_t>("group/deep/matrix", {1, 3}, {2, 2}, box);
  CHECK(box == std::vector<std::int8_t>{5, 6, 10, 11});
  std::vector<std::int64_t> rows(2);
  file.read_rows<std::int64_t>("grown", 4, 1, rows);
  CHECK(rows == std::vector<std::int64_t>{9, 10});
  auto const info = file.info("group/deep/matrix");
  CHECK(info.type == ElementType::i32);
  CHECK(info.shape == Shape{7, 5});
  CHECK(info.chunk == Shape{2, 5});
  CHECK((info.gzip && info.shuffle && !info.is_virtual));
  CHECK(file.list() == std::vector<std::string>{"empty", "group", "grown", "nothing", "scalar"});
  CHECK(file.is_group("group/deep"));
  CHECK(!file.is_group("grown"));
  CHECK(file.contains("nothing/inside"));
  CHECK(!file.contains("nowhere/inside"));
}

TEST_CASE("strings, tables and attributes read back as written", "[hdf5]") {
  TemporaryFolder const folder;
  std::vector<std::string> const names{"bert.pooler", "naïve Ünïcode 語", ""};
  {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write_texts("layers/name", names);
    file.write_texts("none", {});
    file.write_table("steps",
                     {{"step", std::vector<std::int64_t>{1, 2, 1ll << 60}}, {"loss", std::vector<double>{0.1, 2, -3}}});
    file.set_attribute("/", "format", "first");
    file.set_attribute("/", "format", "second");
    file.set_attribute("steps", "count", std::int64_t{-5});
    file.set_attribute("layers", "rate", 0.1);
    file.close();
  }
  auto const file = Hdf5File::open(folder / "a.h5");
  CHECK(file.read_texts("layers/name") == names);
  CHECK(file.read_texts("none").empty());
  auto const table = file.read_table("steps");
  REQUIRE(table.size() == 2);
  CHECK(table[0].name == "step");
  CHECK(std::get<0>(table[0].values) == std::vector<std::int64_t>{1, 2, 1ll << 60});
  CHECK(std::get<1>(table[1].values) == std::vector<double>{0.1, 2, -3});
  CHECK(file.attribute("/", "format") == Hdf5File::Attribute("second"));
  CHECK(file.attribute("steps", "count") == Hdf5File::Attribute(std::int64_t{-5}));
  CHECK(file.attribute("layers", "rate") == Hdf5File::Attribute(0.1));
  CHECK(!file.attribute("/", "missing"));
  CHECK(file.attribute_names("/") == std::vector<std::string>{"format"});
}

TEST_CASE("equal contents make equal files, whenever they are written", "[hdf5]") {
  TemporaryFolder const folder;
  auto const bytes_of = [&](std::string const& name) {
    auto file = Hdf5File::create(folder / name);
    file.write<std::int32_t>("group/chunks", {3, 2}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6},
                             {.chunk = {2, 2}, .gzip = 1});
    file.write<float>("whole", {2}, std::vector<float>{2.5f, 3.5f});
    file.write_texts("text", {"of some", "length"});
    file.write_table("table", {{.name = "step", .values = std::vector<std::int64_t>{1, 2}}});
    file.set_attribute("/", "format", std::string("trial"));
    file.close();
    std::ifstream written(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(written), {});
  };
  auto const first = bytes_of("first.h5");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 stores times in whole seconds
  CHECK((first == bytes_of("second.h5")));
}

TEST_CASE("texts are stored as bytes of fixed length", "[hdf5]") {
  TemporaryFolder const folder;
  std::string const deck(200000, 'd');  // larger than any attribute can be
  {
    auto file = Hdf5File::create(folder / "a.h5");
    file.write_texts("deck", {deck});
    file.set_attribute("/", "format", "bellwether shard");
    file.set_attribute("/", "run_name", "");
    file.close();
  }
  auto const file = Hdf5File::open(folder / "a.h5");
  CHECK(file.read_texts("deck").front() == deck);
  CHECK(file.attribute("/", "run_name") == Hdf5File::Attribute(""));
  std::ifstream written(folder / "a.h5", std::ios::binary);
  std::string const bytes(std::istreambuf_iterator<char>(written), {});
  CHECK((bytes.find("GCOL") == std::string::npos));  // signature of HDF5's heap for variable-length data
}

TEST_CASE("paths other than regular files are rejected before opening", "[hdf5]") {
  TemporaryFolder const folder;
  auto const pipe = folder / "pipe.h5";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, folder / "link.h5");
  for (auto const& path : {pipe, folder / "link.h5", std::string("/dev/zero")})
    CHECK_THROWS_MATCHES(
        Hdf5File::open(path), InputError,
        MessageMatches(ContainsSubstring(path + ": is a pipe, a device or a socket; allowed: a file")));
  CHECK_THROWS_MATCHES(Hdf5File::open(folder.path()), InputError, MessageMatches(ContainsSubstring(": is a folder")));
  CHECK(fault_of_file(folder / "absent").empty());
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  auto const descriptor = "/dev/fd/" + std::to_string(ends[0]);
  CHECK(fault_of_file(descriptor, Pipes::of_this_process).empty());
  CHECK(!fault_of_file(descriptor).empty());
  CHECK(!fault_of_file(pipe, Pipes::of_this_process).empty());
  for (int const end : ends) ::close(end);
}

TEST_CASE("virtual data sets are read only on request, and only as many rows as exist", "[hdf5]") {
  TemporaryFolder const folder;
  std::filesystem::create_directory(folder / "below");
  auto segment = Hdf5File::create(folder / "below/segment.h5");
  segment.write<double>("ratio", {2, 3}, std::vector<double>(6, 0.5));
  segment.close();
  auto main = Hdf5File::create(folder / "all.h5");
  main.write_virtual("whole", {{"below/segment.h5", "ratio", 2}});
  main.write_virtual("huge", {{"below/segment.h5", "ratio", std::int64_t{1} << 36}});
  main.write_virtual("elsewhere", {{"below/../below/segment.h5", "ratio", 2}});
  main.close();
  auto const refused = [](Hdf5File const& file, std::string const& name, std::string const& what) {
    CAPTURE(name);
    CHECK_THROWS_MATCHES(file.read<double>(name), InputError, MessageMatches(ContainsSubstring(what)));
  };
  refused(Hdf5File::open(folder / "all.h5"), "whole", "shows values of other files");
  auto const file = Hdf5File::open(folder / "all.h5", VirtualData::show);
  CHECK(file.read<double>("whole") == std::vector<double>(6, 0.5));
  refused(file, "huge", "which has fewer");
  refused(file, "elsewhere", "allowed: files next to it");
  std::filesystem::remove(folder / "below/segment.h5");
  REQUIRE(mkfifo((folder / "below/segment.h5").c_str(), 0600) == 0);
  refused(file, "whole", "segment.h5, which is not a file");
}

TEST_CASE("a virtual data set shows the rows of its segments", "[hdf5]") {
  TemporaryFolder const folder;
  for (std::int64_t segment : {0, 1, 2}) {
    auto file = Hdf5File::create(folder / ("segment" + std::to_string(segment) + ".h5"));
    std::vector<std::int64_t> const steps{segment * 2, segment * 2 + 1};
    file.write_table("steps", {{"step", steps}, {"loss", std::vector<double>(2, 0.5)}});
    file.write<double>("ratio", {2, 3}, std::vector<double>(6, static_cast<double>(segment)));
    file.close();
  }
  {
    auto file = Hdf5File::create(folder / "all.h5");
    std::vector<VirtualSource> tables, ratios;
    for (int segment : {0, 1, 2}) {
      tables.push_back({"segment" + std::to_string(segment) + ".h5", "steps", 2});
      ratios.push_back({"segment" + std::to_string(segment) + ".h5", "ratio", 2});
    }
    file.write_virtual("steps", tables);
    file.write_virtual("layers/ratio", ratios);
    file.close();
  }
  auto const file = Hdf5File::open(folder / "all.h5", VirtualData::show);
  CHECK(file.info("steps").is_virtual);
  CHECK(std::get<0>(file.read_table("steps")[0].values) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(file.read<double>("layers/ratio")[17] == 2.0);
}

TEST_CASE("errors name file and data set", "[hdf5]") {
  TemporaryFolder const folder;
  CHECK_THROWS_MATCHES(Hdf5File::open(folder / "none.h5"), InputError, MessageMatches(ContainsSubstring("none.h5")));
  std::ofstream(folder / "text.h5") << "no HDF5";
  CHECK_THROWS_MATCHES(Hdf5File::open(folder / "text.h5"), InputError, MessageMatches(ContainsSubstring("text.h5")));
  CHECK_THROWS_AS(Hdf5File::create(folder / "no/folder.h5"), RuntimeError);
  auto broken = Hdf5File::create(folder / "broken.h5");
  broken.write<double>("real", {2}, std::vector<double>{1, 2});
  CHECK_THROWS_MATCHES(broken.write<double>("real", {2}, std::vector<double>{1, 2}), RuntimeError,
                       MessageMatches(ContainsSubstring("broken.h5: data set 'real'")));
  CHECK_THROWS_MATCHES(broken.close(), RuntimeError, MessageMatches(ContainsSubstring("an earlier write failed")));
  auto writer = Hdf5File::create(folder / "a.h5");
  writer.write<double>("real", {2}, std::vector<double>{1, 2});
  writer.close();
  auto const file = Hdf5File::open(folder / "a.h5");
  CHECK_THROWS_MATCHES(file.read<double>("unreal"), InputError,
                       MessageMatches(ContainsSubstring("a.h5: data set 'unreal': not found")));
  CHECK_THROWS_MATCHES(file.read<std::int64_t>("real"), InputError, MessageMatches(ContainsSubstring("holds float64")));
  std::vector<double> out(2);
  CHECK_THROWS_MATCHES(file.read_rows<double>("real", 1, 2, out), InputError,
                       MessageMatches(ContainsSubstring("[1, 3) of 2")));
}

TEST_CASE("the I/O thread keeps order, priorities and errors", "[io]") {
  std::vector<int> order;
  {
    IoThread io;
    std::promise<void> begun, gate;
    auto open = gate.get_future();
    auto first = io.submit(IoThread::Priority::checkpoint, [&] {
      begun.set_value();
      open.wait();
    });
    begun.get_future().wait();  // otherwise it would be queued with the tasks below
    for (int i : {1, 2}) io.submit(IoThread::Priority::checkpoint, [&, i] { order.push_back(20 + i); });
    io.submit(IoThread::Priority::statistics, [&] { order.push_back(10); });
    for (int i : {1, 2}) io.submit(IoThread::Priority::read_ahead, [&, i] { order.push_back(i); });
    gate.set_value();
    io.drain();
    CHECK(order == std::vector<int>{1, 2, 10, 21, 22});
    CHECK(io.run(IoThread::Priority::statistics,
                 [&] { return io.run(IoThread::Priority::statistics, [] { return 7; }); }) == 7);
    auto failed = io.submit(IoThread::Priority::checkpoint, []() -> int { throw RuntimeError("disk full"); });
    CHECK_THROWS_AS(failed.get(), RuntimeError);
    for (int i = 0; i < 100; ++i) io.submit(IoThread::Priority::checkpoint, [&] { order.push_back(0); });
  }
  CHECK(order.size() == 105);
}

TEST_CASE("a table with a damaged column is an error, not a read of other memory", "[hdf5]") {
  TemporaryFolder const folder;
  auto const path = folder / "a.h5";
  {
    auto file = Hdf5File::create(path);
    file.write_table("steps", {{"step", std::vector<std::int64_t>{1, 2}}, {"lossy", std::vector<double>(2, 0.5)}});
    file.close();
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  in.close();
  // In the file the column's offset in its row follows its name, which zeros fill up to 8 bytes.
  auto const name = bytes.find("lossy");
  REQUIRE(name != std::string::npos);
  bytes[name + 8 + 2] = 0x7f;
  std::ofstream(path, std::ios::binary) << bytes;
  auto const file = Hdf5File::open(path);
  CHECK_THROWS_MATCHES(
      file.read_table("steps"), InputError,
      MessageMatches(ContainsSubstring("steps") && ContainsSubstring("damaged: a column lies beyond its row")));
}

TEST_CASE("a file whose writer did not finish is an error that says what to do", "[hdf5]") {
  TemporaryFolder const folder;
  auto const path = folder / "unfinished.h5";
  std::vector<std::int32_t> const values(4096, 7);
  constexpr std::streamoff root_header = 96;
  auto const told = [&] {
    try {
      auto const file = Hdf5File::open(path);
      static_cast<void>(file.read<std::int32_t>("values"));
    } catch (InputError const& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  auto file = Hdf5File::create(path);
  file.write<std::int32_t>("values", {4096}, values);
  file.close();
  REQUIRE(told() == "nothing");
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(root_header).put(static_cast<char>(0xff));
  CHECK(told() == path + ": cannot be opened as HDF5: bad object header version number" + damage_advice);
  CHECK(why_unopened(path, "addr overflow, addr = 800, size=544, eoa=96").ends_with(damage_advice));
  for (auto const* reason : {"unable to convert between src and dest datatypes", "bad superblock version number",
                             "memory allocation failed for raw data buffer", "Input/output error", ""})
    CHECK_FALSE(means_damage(reason));
}

TEST_CASE("a compressed chunk that is damaged is an error that says so", "[hdf5]") {
  TemporaryFolder const folder;
  auto const path = folder / "damaged.h5";
  std::vector<std::int32_t> values(1 << 16);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::int32_t>(k * k % 9973);
  auto file = Hdf5File::create(path);
  file.write<std::int32_t>("values", {1 << 16}, values, {.chunk = {1 << 16}, .gzip = 4});
  file.close();
  auto const size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(size / 2)
      .write(std::string(4096, '\0').data(), 4096);
  CHECK_THROWS_WITH(Hdf5File::open(path).read_rows<std::int32_t>("values", 0, 1 << 16, values),
                    path + ": data set 'values': cannot be read: inflate() failed" + damage_advice);
}

TEST_CASE("an HDF5 file that was compressed as a whole is recognised", "[hdf5]") {
  using namespace std::string_view_literals;
  struct Packed {
    std::string_view start;
    std::string what, command;
  };
  auto const packed = GENERATE(Packed{"\x1F\x8B\x08 and more"sv, "a gzip file", "gzip -dc FILE > NEW"},
                               Packed{"BZh91AY&SY and more"sv, "a bzip2 file", "bzip2 -dc FILE > NEW"},
                               Packed{"\xFD\x37zXZ\0 and more"sv, "an xz file", "xz -dc FILE > NEW"},
                               Packed{"\x28\xB5\x2F\xFD and more"sv, "a Zstandard file", "zstd -dc FILE > NEW"},
                               Packed{"PK\x03\x04 and more"sv, "a zip archive", "unzip FILE"},
                               Packed{"7z\xBC\xAF\x27\x1C and more"sv, "a 7-Zip archive", "7z x FILE"});
  TemporaryFolder const folder;
  std::ofstream(folder / "a.h5", std::ios::binary) << packed.start << std::string(600, ' ');
  CHECK_THROWS_WITH(
      Hdf5File::open(folder / "a.h5"),
      folder / "a.h5" + ": is " + packed.what + " and must be unpacked to be read; unpack it: " + packed.command);
}

TEST_CASE("a tar archive, and a file that packs nothing, in place of HDF5", "[hdf5]") {
  TemporaryFolder const folder;
  std::ofstream(folder / "a.h5", std::ios::binary)
      << "shards/a.h5" + std::string(246, '\0') + "ustar" + std::string(600, '\0');
  CHECK_THROWS_WITH(Hdf5File::open(folder / "a.h5"),
                    folder / "a.h5" + ": is a tar archive and must be unpacked to be read; unpack it: tar -xf FILE");
  std::ofstream(folder / "b.h5") << "%PDF-1.7 is a document";
  CHECK_THROWS_WITH(Hdf5File::open(folder / "b.h5"), folder / "b.h5" + ": " + not_hdf5);
}
