// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests NCCL collectives on a machine without a GPU: their order on streams, and the resources of a group.
#include "tests/comm/transport/nccl_ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <atomic>

using namespace bellwether::comm;
using namespace bellwether::comm::test;

TEST_CASE("collectives are ordered with the caller's stream without blocking the host") {
  int const size = GENERATE(range(1, 9));
  auto ranks = make_ranks(size, never);
  auto const P = static_cast<std::size_t>(size);
  std::vector<std::vector<std::byte>> mine(P), all(P, std::vector<std::byte>(4 * P));
  std::vector<Request> requests;
  std::atomic<bool> formed = false;
  std::vector<std::byte> read(P);
  for (std::size_t r = 0; r < P; ++r) {
    mine[r].resize(4);
    // The last rank's input is not ready when its collective starts.
    stand_in_gpu::put_work(ranks[r].stream, [&, r] {
      if (r + 1 == P && !formed) return false;
      mine[r].assign(4, static_cast<std::byte>(r + 1));
      return true;
    });
    requests.push_back(gather(ranks[r], mine[r].data(), all[r].data(), 4));
    CHECK_FALSE(ranks[r].group->ended(requests[r]));
    ranks[r].group->wait(requests[r]);
    stand_in_gpu::put_work(ranks[r].stream, [&, r] {
      read[r] = all[r][4 * P - 1];
      return true;
    });
  }
  for (auto& rank : ranks) CHECK_FALSE(stand_in_gpu::idle(rank.stream));
  formed = true;
  for (std::size_t r = 0; r < P; ++r) {
    CHECK(stand_in_gpu::idle(ranks[r].stream));
    CHECK(read[r] == static_cast<std::byte>(P));
    for (std::size_t k = 0; k < 4 * P; ++k) CHECK(all[r][k] == static_cast<std::byte>(k / 4 + 1));
  }
  // Groups are destroyed one after the other, as separate ranks do.
  ranks.clear();
  CHECK(stand_in_gpu::destroyed() == size);
  CHECK(stand_in_gpu::aborted() == 0);
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("every kind of collective is delivered on the group's stream in start order") {
  int const size = GENERATE(range(2, 9));
  auto ranks = make_ranks(size, never);
  auto const P = static_cast<std::size_t>(size);
  std::vector<std::int64_t> lengths(P);
  for (std::size_t r = 0; r < P; ++r) lengths[r] = static_cast<std::int64_t>(r % 3) * 4;
  std::int64_t total = 0;
  for (auto const length : lengths) total += length;
  auto const bytes = [](std::int64_t count) { return std::vector<std::byte>(static_cast<std::size_t>(count)); };
  std::vector<std::vector<std::byte>> words_of(P, bytes(4 * size)), theirs(P, bytes(4 * size)), part(P),
      parts(P, bytes(total));
  std::vector<std::vector<float>> sums(P, std::vector<float>(3));
  for (std::size_t r = 0; r < P; ++r) {
    Rank& rank = ranks[r];
    for (std::size_t k = 0; k < 4 * P; ++k) words_of[r][k] = static_cast<std::byte>(16 * r + k / 4);
    part[r].assign(static_cast<std::size_t>(lengths[r]), static_cast<std::byte>(r + 1));
    sums[r].assign(3, static_cast<float>(r));
    Request first = rank.group->start(rank.stream, "all-to-all", words, 4 * size, [&](NcclCalls const& calls) {
      calls.alltoall(words_of[r].data(), theirs[r].data(), 4);
    });
    Request second =
        rank.group->start(rank.stream, "all-gather of uneven parts", words, lengths[r],
                          [&](NcclCalls const& calls) { calls.allgatherv(part[r].data(), parts[r].data(), lengths); });
    Request third = rank.group->start(rank.stream, "library sum", words, 12,
                                      [&](NcclCalls const& calls) { calls.sum(sums[r].data(), 3); });
    rank.group->wait(second);
    rank.group->wait(first);
    rank.group->wait(third);
  }
  for (std::size_t r = 0; r < P; ++r) {
    CHECK(stand_in_gpu::idle(ranks[r].stream));
    for (std::size_t k = 0; k < 4 * P; ++k) CHECK(theirs[r][k] == static_cast<std::byte>(16 * (k / 4) + r));
    std::vector<std::byte> expected;
    for (std::size_t peer = 0; peer < P; ++peer) expected.insert(expected.end(), part[peer].begin(), part[peer].end());
    CHECK(parts[r] == expected);
    CHECK(sums[r][0] == static_cast<float>(size * (size - 1) / 2));
  }
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("a host ahead of the device creates no events in later steps and loses no collective") {
  // More collectives per step than a large model has segments, and more at once than the ring has slots.
  int const in_a_step = 700, steps = 6;
  auto ranks = make_ranks(2, never);
  std::vector<std::byte> mine(4), all(8);
  int const before = stand_in_gpu::events();
  std::atomic<int> computed = 0;
  auto const start = [&](int step) {
    for (auto& rank : ranks) {
      stand_in_gpu::put_work(rank.stream, [&computed, step] { return computed >= step; });
      for (int k = 0; k < in_a_step; ++k) {
        Request one = gather(rank, mine.data(), all.data(), 4);
        rank.group->wait(one);
      }
    }
  };
  auto const idle = [&] { return stand_in_gpu::idle(ranks[0].stream) && stand_in_gpu::idle(ranks[1].stream); };
  for (int step = 1; step <= steps; ++step) {
    computed = step - 2;  // the device is one step behind
    start(step);
  }
  CHECK(stand_in_gpu::events() == before);
  CHECK_FALSE(idle());
  computed = steps;
  CHECK(idle());
  for (int step = steps + 1; step <= 2 * steps; ++step) start(step);
  CHECK(stand_in_gpu::events() > before);
  mine.assign(4, std::byte{7});
  computed = 2 * steps;
  CHECK(idle());
  CHECK(all == std::vector<std::byte>(8, std::byte{7}));
  ranks.clear();
  CHECK(stand_in_gpu::destroyed() == 2);
  CHECK(stand_in_gpu::held() == 2);  // the callers' streams
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("destroying a group first waits for collectives in progress") {
  auto ranks = make_ranks(2, never);
  std::vector<std::byte> mine(4, std::byte{5}), all(8), others(8);
  std::atomic<bool> computed = false;
  stand_in_gpu::put_work(ranks[1].stream, [&] { return computed.load(); });
  for (auto* to : {&all, &others}) {
    Rank& rank = ranks[to == &all ? 0 : 1];
    Request one = gather(rank, mine.data(), to->data(), 4);
    rank.group->wait(one);
  }
  std::thread later([&] {
    stand_still(0.1);
    computed = true;
  });
  ranks.clear();
  later.join();
  CHECK(all == std::vector<std::byte>(8, std::byte{5}));
  CHECK(stand_in_gpu::destroyed() == 2);
  CHECK(stand_in_gpu::aborted() == 0);
  CHECK(stand_in_gpu::faults().empty());
}
