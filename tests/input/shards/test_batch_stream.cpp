// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/shards/batch_stream.hpp"
#include "input/shards/masking.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// One sequence as stored in a batch.
struct Sequence {
  std::vector<std::int32_t> tokens, segments, masked, labels;
  std::int32_t next = 0;
  bool operator==(Sequence const&) const = default;
};

void collect(model::StepBatch const& step, std::map<std::int64_t, Sequence>& out) {
  for (auto const& pass : step.micro_batches) {
    REQUIRE(std::ssize(pass.sequence_offsets) == pass.sequences() + 1);
    REQUIRE(pass.sequence_offsets.back() == pass.tokens());
    REQUIRE(pass.segment_ids.size() == pass.token_ids.size());
    REQUIRE(pass.masked_labels.size() == pass.masked_rows.size());
    REQUIRE(std::ranges::is_sorted(pass.masked_rows));
    for (std::size_t b = 0; b < pass.next_labels.size(); ++b) {
      auto const begin = pass.sequence_offsets[b], end = pass.sequence_offsets[b + 1];
      Sequence sequence;
      sequence.tokens.assign(pass.token_ids.begin() + begin, pass.token_ids.begin() + end);
      sequence.segments.assign(pass.segment_ids.begin() + begin, pass.segment_ids.begin() + end);
      for (std::size_t m = 0; m < pass.masked_rows.size(); ++m)
        if (pass.masked_rows[m] >= begin && pass.masked_rows[m] < end) {
          sequence.masked.push_back(pass.masked_rows[m] - begin);
          sequence.labels.push_back(pass.masked_labels[m]);
        }
      sequence.next = pass.next_labels[b];
      REQUIRE(out.emplace(pass.samples[b], sequence).second);
    }
  }
}

struct Shards {
  TemporaryFolder folder;
  DataConfig config;
  explicit Shards(bool static_masks) {
    write_shard(folder / "a.h5", small_format(static_masks), 0, 37);
    write_shard(folder / "b.h5", small_format(static_masks), 37, 50);
    write_shard(folder / "c.h5", small_format(static_masks), 87, 13);
    config.window = 12;
  }
  std::vector<std::string> paths() const { return {folder.path()}; }
};

StreamGeometry geometry(int rank, int size, std::int64_t micro) {
  return {.rank = rank, .size = size, .global = 32, .micro = micro, .seed = 5, .vocabulary = 100};
}

std::map<std::int64_t, Sequence> run(IoThread& io, Shards const& shards, int size, std::int64_t micro, int steps) {
  std::map<std::int64_t, Sequence> all;
  std::deque<BatchStream> streams;
  for (int rank = 0; rank < size; ++rank)
    streams.emplace_back(io, shards.paths(), shards.config, geometry(rank, size, micro));
  for (int step = 0; step < steps; ++step) {
    std::int64_t sequences = 0, masked = 0, tokens = 0, fewest = 1000, most = 0;
    model::StepBatch last;
    for (auto& stream : streams) {
      CHECK(stream.position() == step * 32);
      last = stream.next();
      std::int64_t mine = 0;
      for (auto const& pass : last.micro_batches) {
        CHECK(pass.sequences() <= micro);
        mine += pass.sequences();
        masked += pass.masked();
        tokens += pass.tokens();
      }
      sequences += mine;
      fewest = std::min(fewest, mine);
      most = std::max(most, mine);
      collect(last, all);
      CHECK(last.first_sample == step * 32);
    }
    CHECK(sequences == 32);
    CHECK(last.global_sequences == 32);
    CHECK(last.global_masked == masked);
    CHECK(last.global_tokens == tokens);
    CHECK(most - fewest <= 1);
  }
  return all;
}

}  // namespace

TEST_CASE("any split into ranks and micro-batches consumes the same samples", "[stream]") {
  bool const static_masks = GENERATE(true, false);
  Shards const shards(static_masks);
  IoThread io;
  int constexpr steps = 7;  // 224 samples: two epochs of 100 and 24 more
  auto const reference = run(io, shards, 1, 32, steps);
  REQUIRE(reference.size() == 32 * steps);
  CHECK(reference.begin()->first == 0);
  CHECK(reference.rbegin()->first == 32 * steps - 1);
  for (auto const& [size, micro] : {std::pair(1, 5), {2, 8}, {3, 5}, {4, 1}, {4, 8}, {5, 100}})
    CHECK(run(io, shards, size, micro, steps) == reference);

  // Each epoch contains every row once: the restored sequences are the rows that were written.
  ShardFormat const plain = small_format(false);
  for (std::int64_t epoch : {0, 1}) {
    std::multiset<std::vector<std::int32_t>> seen, written;
    for (std::int64_t i = 0; i < 100; ++i) {
      Sequence sequence = reference.at(epoch * 100 + i);
      for (std::size_t m = 0; m < sequence.masked.size(); ++m)
        sequence.tokens[static_cast<std::size_t>(sequence.masked[m])] = sequence.labels[m];
      seen.insert(sequence.tokens);
      written.insert(sample_of(i, plain).token_ids);
    }
    CHECK(seen == written);
  }
}

TEST_CASE("seeking gives the same batches as running", "[stream]") {
  Shards const shards(false);
  IoThread io;
  BatchStream running(io, shards.paths(), shards.config, geometry(1, 3, 4));
  for (std::int64_t step = 0; step < 12; ++step) {
    std::map<std::int64_t, Sequence> run, sought;
    BatchStream seeking(io, shards.paths(), shards.config, geometry(1, 3, 4));
    if (step % 2 == 1) seeking.next();  // seek from other positions, too
    seeking.seek(step * 32);
    CHECK(seeking.position() == step * 32);
    collect(running.next(), run);
    collect(seeking.next(), sought);
    CHECK(run == sought);
  }
}

TEST_CASE("each epoch draws new masks", "[stream]") {
  Shards const shards(false);
  IoThread io;
  auto const all = run(io, shards, 1, 32, 7);
  int differing = 0;
  std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> masked;
  for (auto const& [g, sequence] : all) {
    auto restored = sequence.tokens;
    for (std::size_t m = 0; m < sequence.masked.size(); ++m)
      restored[static_cast<std::size_t>(sequence.masked[m])] = sequence.labels[m];
    auto const [at, fresh] = masked.emplace(restored, sequence.masked);
    if (!fresh && at->second != sequence.masked) ++differing;
  }
  CHECK(differing > 50);
}

TEST_CASE("an epoch reads each row once, in whole chunks", "[stream]") {
  Shards const shards(true);
  IoThread io;
  BatchStream stream(io, shards.paths(), shards.config, geometry(0, 1, 32));
  for (int step = 0; step < 25; ++step) stream.next();  // 800 samples: eight epochs
  // Pieces of 12 rows are widened to 16, two chunks of 8, and so are windows. Read-ahead is at most one batch and two
  // windows.
  CHECK(stream.rows_read() >= 800);
  CHECK(stream.rows_read() <= 800 + 32 + 2 * 16);
}

TEST_CASE("reading runs ahead on the I/O thread", "[stream]") {
  Shards const shards(true);
  IoThread io;
  BatchStream stream(io, shards.paths(), shards.config, geometry(0, 1, 32));
  stream.next();
  double const first = stream.waited_seconds();
  CHECK(first > 0);
  CHECK(stream.rows_read() >= 64);  // the next batch was requested
  io.drain();
  // The rows of the next batch are in memory: next() does not wait even if the I/O thread is blocked.
  std::promise<void> gate;
  auto const opened = gate.get_future().share();
  auto held = io.submit(IoThread::Priority::read_ahead, [opened] { opened.wait(); });
  CHECK(stream.next().global_sequences == 32);
  CHECK(stream.waited_seconds() - first < 0.05);
  gate.set_value();
  held.get();
}

TEST_CASE("held-out batches are the first rows with fixed masks", "[stream]") {
  bool const static_masks = GENERATE(true, false);
  Shards const shards(static_masks);
  IoThread io;
  std::map<std::int64_t, Sequence> one, three;
  for (auto const& batch : heldout_batches(io, shards.paths(), shards.config, geometry(0, 1, 32), 75).batches)
    collect(batch, one);
  std::int64_t tokens = 0;
  for (int rank = 0; rank < 3; ++rank) {
    auto const batches = heldout_batches(io, shards.paths(), shards.config, geometry(rank, 3, 4), 75).batches;
    REQUIRE(batches.size() == 3);
    CHECK(batches[0].global_sequences == 32);
    CHECK(batches[2].global_sequences == 11);
    for (auto const& batch : batches) {
      collect(batch, three);
      if (rank == 0) tokens += batch.global_tokens;
    }
  }
  CHECK(one.size() == 75);
  CHECK(one == three);
  std::int64_t counted = 0;
  for (auto const& [g, sequence] : one) {
    auto restored = sequence.tokens;
    for (std::size_t m = 0; m < sequence.masked.size(); ++m)
      restored[static_cast<std::size_t>(sequence.masked[m])] = sequence.labels[m];
    CHECK(restored == sample_of(g, small_format(false)).token_ids);
    counted += std::ssize(sequence.tokens);
  }
  CHECK(tokens == counted);
  std::int64_t all = 0;
  for (auto const& batch : heldout_batches(io, shards.paths(), shards.config, geometry(0, 1, 32), 1000).batches)
    all += batch.global_sequences;
  CHECK(all == 100);
}

TEST_CASE("sets that do not fit are rejected with every fault", "[stream]") {
  TemporaryFolder const folder;
  IoThread io;
  write_shard(folder / "a.h5", small_format(false), 0, 4);
  write_shard(folder / "b.h5", small_format(true), 0, 4);
  auto other = small_format(false);
  other.sequence_length = 20;
  write_shard(folder / "c.h5", other, 0, 4);
  try {
    BatchStream(io, {folder.path()}, {}, geometry(0, 1, 32));
    FAIL("accepted");
  } catch (InputError const& error) {
    REQUIRE(error.faults().size() == 2);
    CHECK_THAT(error.faults()[0], ContainsSubstring("b.h5: static and dynamic masks"));
    CHECK_THAT(error.faults()[1], ContainsSubstring("c.h5: sequences of 20 tokens"));
  }
  DataConfig config;
  config.dynamic_masking = false;
  CHECK_THROWS_MATCHES(BatchStream(io, {folder / "a.h5"}, config, geometry(0, 1, 32)), InputError,
                       MessageMatches(ContainsSubstring("a.h5: holds unmasked ids")));
  auto few = geometry(0, 1, 32);
  few.vocabulary = 50;
  CHECK_THROWS_MATCHES(BatchStream(io, {folder / "b.h5"}, {}, few), InputError,
                       MessageMatches(ContainsSubstring("b.h5: made with a vocabulary of 100")));
}

TEST_CASE("shards of several vocabularies are rejected", "[stream]") {
  TemporaryFolder const folder;
  IoThread io;
  bool const static_masks = GENERATE(true, false);
  auto format = small_format(static_masks);
  write_shard(folder / "a.h5", format, 0, 4);
  format.vocabulary = 90;
  write_shard(folder / "b.h5", format, 0, 4);
  format = small_format(static_masks);
  format.special.mask = 4;
  write_shard(folder / "c.h5", format, 0, 4);
  format = small_format(static_masks);
  write_shard(folder / "d.h5", format, 4, 4);
  try {
    BatchStream(io, {folder.path()}, {}, geometry(0, 1, 32));
    FAIL("accepted");
  } catch (InputError const& error) {
    REQUIRE(error.faults().size() == 2);
    CHECK_THAT(error.faults()[0], ContainsSubstring("b.h5: made with a vocabulary of 90, " + (folder / "a.h5") +
                                                    " with one of 100; allowed"));
    CHECK_THAT(error.faults()[1], ContainsSubstring("c.h5: made with [CLS], [SEP], [MASK] = 1, 2, 4, " +
                                                    (folder / "a.h5") + " with 1, 2, 3; allowed"));
  }
  auto const info = BatchStream(io, {folder / "a.h5", folder / "d.h5"}, {}, geometry(0, 1, 32)).info();
  CHECK(info.vocabulary.tokens == 100);
  CHECK(info.vocabulary.special.mask == 3);
}

TEST_CASE("shards of two vocabularies of the same size are rejected", "[stream]") {
  TemporaryFolder const folder;
  IoThread io;
  auto format = small_format(GENERATE(true, false));
  write_shard(folder / "a.h5", format, 0, 4);  // as an earlier version wrote it: no checksum
  format.vocabulary_checksum = "00000000000000aa";
  write_shard(folder / "b.h5", format, 4, 4);
  format.vocabulary_checksum = "00000000000000bb";
  write_shard(folder / "c.h5", format, 8, 4);
  auto const open = [&](std::vector<std::string> const& shards) {
    return BatchStream(io, shards, {}, geometry(0, 1, 32)).info().vocabulary.checksum;
  };
  CHECK_THROWS_MATCHES(
      open({folder.path()}), InputError,
      MessageMatches(ContainsSubstring(folder / "c.h5" + ": made with a vocabulary of checksum 00000000000000bb, " +
                                       (folder / "b.h5") +
                                       " with one of checksum 00000000000000aa: the same ids are other tokens")));
  CHECK(open({folder / "a.h5"}).empty());
  CHECK(open({folder / "a.h5", folder / "b.h5"}) == "00000000000000aa");
}

TEST_CASE("next() reports a bad row", "[stream]") {
  TemporaryFolder const folder;
  IoThread io;
  auto format = small_format(true);
  format.vocabulary = 40;
  ShardWriter writer(folder / "a.h5", format);
  for (std::int64_t r = 0; r < 6; ++r) writer.append(sample_of(r, format));
  Sample bad = sample_of(6, format);
  bad.token_ids[3] = 40;
  writer.append(bad);
  writer.close();
  auto geo = geometry(0, 1, 32);
  geo.vocabulary = 40;
  BatchStream stream(io, {folder / "a.h5"}, {}, geo);
  CHECK_THROWS_MATCHES(stream.next(), InputError,
                       MessageMatches(ContainsSubstring("a.h5: data set 'input_ids', row 6, column 3")));
}

TEST_CASE("the fingerprint depends on the data", "[stream]") {
  IoThread io;
  Shards const one(false), same(false), other(true);
  auto const fingerprint = [&](Shards const& shards) {
    return BatchStream(io, shards.paths(), shards.config, geometry(0, 1, 32)).info().fingerprint;
  };
  CHECK(fingerprint(one) == fingerprint(same));
  CHECK(fingerprint(one) != fingerprint(other));
}

TEST_CASE("memory does not grow with the number of batches", "[stream]") {
#ifdef __SANITIZE_ADDRESS__
  SKIP("the address sanitizer keeps freed memory");
#endif
  auto const resident_pages = [] {
    std::int64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident;
  };
  if (!std::filesystem::exists("/proc/self/statm")) SKIP("no /proc/self/statm on this system");
  TemporaryFolder const folder;
  auto format = small_format(false);
  format.sequence_length = 512;
  write_shard(folder / "a.h5", format, 0, 4000, 64);
  IoThread io;
  DataConfig config;
  config.window = 256;
  BatchStream stream(io, {folder / "a.h5"}, config, geometry(0, 1, 32));
  for (int step = 0; step < 125; ++step) stream.next();  // one epoch to warm up allocator and library
  auto const before = resident_pages();
  for (int step = 0; step < 500; ++step) stream.next();  // four more epochs: 41 MB of rows
  auto const grown = (resident_pages() - before) * ::sysconf(_SC_PAGESIZE);
  CHECK(grown < 4 << 20);
}
