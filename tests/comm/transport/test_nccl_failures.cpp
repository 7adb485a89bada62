// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests the supervision of NCCL collectives on a machine without a GPU: timeouts, errors and aborts.
#include "tests/comm/transport/nccl_ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>

using namespace bellwether::comm;
using namespace bellwether::comm::test;
using bellwether::Clock, bellwether::seconds_since;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a collective that a rank does not join times out with its name and frees its stream") {
  Watchdog watchdog({});
  auto ranks = make_ranks(3, soon, &watchdog);
  std::vector<std::byte> mine(64), all(192);
  auto const start = Clock::now();
  Request stuck = gather(ranks[1], mine.data(), all.data(), 64);
  ranks[1].group->wait(stuck);
  CHECK_FALSE(stand_in_gpu::idle(ranks[1].stream));
  std::string const failure = failure_of(*ranks[1].group);
  CHECK(seconds_since(start) >= soon);
  CHECK_THAT(failure,
             ContainsSubstring("collective timeout: all-gather bellwether::test::words, 64 bytes from this rank, "
                               "rank 1 of 3, not finished after "));
  CHECK_THAT(failure, ContainsSubstring("1 begun, asked 1 times"));  // once, after half of the timeout
  CHECK(stand_in_gpu::idle(ranks[1].stream));
  CHECK(stand_in_gpu::aborted() == 1);
  // From now on every call reports the failure.
  try {
    Request const none = gather(ranks[1], mine.data(), all.data(), 64);
    FAIL("no error");
  } catch (CollectiveTimeout const& error) {
    CHECK(error.what() == failure);
  }
  // Ranks that wait for nothing have no timeout.
  ranks[0].group->throw_if_failed();
  ranks.clear();
  CHECK(stand_in_gpu::aborted() == 1);
  CHECK(stand_in_gpu::destroyed() == 2);
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("collectives started after a stuck one do not hide it") {
  auto ranks = make_ranks(2, soon);
  std::vector<std::byte> mine(8), all(16);
  Request first = gather(ranks[0], mine.data(), all.data(), 8);
  ranks[0].group->wait(first);  // the host continues
  for (int later = 0; later < 20; ++later) {
    Request next = gather(ranks[0], mine.data(), all.data(), 4, "bellwether::test::behind");
    ranks[0].group->wait(next);
  }
  CHECK_THAT(failure_of(*ranks[0].group), ContainsSubstring("all-gather bellwether::test::words, 8 bytes"));
  CHECK(stand_in_gpu::idle(ranks[0].stream));
}

TEST_CASE("of several collective timeouts the first one is reported, even if it reuses an operation") {
  auto ranks = make_ranks(2, 1);
  std::vector<std::byte> mine(8), all(16), others(16);
  for (auto* to : {&all, &others}) {
    Rank& rank = ranks[to == &all ? 0 : 1];
    Request done = gather(rank, mine.data(), to->data(), 8, "bellwether::test::done");
    rank.group->wait(done);
  }
  CHECK(stand_in_gpu::idle(ranks[0].stream));
  std::atomic<bool> computed = false;
  stand_in_gpu::put_work(ranks[0].stream, [&] { return computed.load(); });
  Request first = gather(ranks[0], mine.data(), all.data(), 8);
  Request second = gather(ranks[0], mine.data(), all.data(), 4, "bellwether::test::behind");
  stand_still(0.25);  // several polls
  computed = true;
  CHECK_THAT(failure_of(*ranks[0].group), ContainsSubstring("all-gather bellwether::test::words, 8 bytes"));
  first.release();
  second.release();
}

TEST_CASE("a call that does not return after a collective timeout does not hide it") {
  auto ranks = make_ranks(2, 1);
  std::vector<std::byte> mine(8), all(16);
  Request first = gather(ranks[0], mine.data(), all.data(), 8);
  ranks[0].group->wait(first);
  stand_still(0.5);
  try {
    Request const none = ranks[0].group->start(ranks[0].stream, "all-gather", "bellwether::test::behind", 4,
                                               [&](NcclCalls const& calls) {
                                                 stand_in_gpu::fail_rank(0, ncclInProgress);
                                                 calls.allgather(mine.data(), all.data(), 4);
                                               });
    FAIL("no error");
  } catch (CollectiveTimeout const& error) {
    CHECK_THAT(error.what(), ContainsSubstring("all-gather bellwether::test::words, 8 bytes"));
  }
}

TEST_CASE("the timeout of a collective starts after the work before it") {
  auto ranks = make_ranks(2, 1);
  std::vector<std::byte> mine(8), all(16), others(16);
  std::atomic<bool> computed = false;
  stand_in_gpu::put_work(ranks[0].stream, [&] { return computed.load(); });
  Request first = gather(ranks[0], mine.data(), all.data(), 8);
  ranks[0].group->wait(first);
  stand_still(1.4);
  ranks[0].group->throw_if_failed();
  Request second = gather(ranks[1], mine.data(), others.data(), 8);
  ranks[1].group->wait(second);
  computed = true;
  CHECK(comes([&] { return stand_in_gpu::idle(ranks[0].stream) && stand_in_gpu::idle(ranks[1].stream); }));
  stand_still(1.2);
  for (auto& rank : ranks) rank.group->throw_if_failed();
}

TEST_CASE("asynchronous errors of NCCL or the device are reported with the collective in progress") {
  bool const device = GENERATE(false, true);
  auto ranks = make_ranks(2, never);
  std::vector<std::byte> mine(8), all(16);
  if (GENERATE(false, true)) {
    Request first = gather(ranks[1], mine.data(), all.data(), 8);
    ranks[1].group->wait(first);
    if (device)
      stand_in_gpu::fail_device(cudaErrorIllegalAddress);
    else
      stand_in_gpu::fail_rank(1, ncclRemoteError);
    CHECK_THAT(failure_of(*ranks[1].group),
               ContainsSubstring("collective timeout: all-gather bellwether::test::words, 8 bytes from this rank, "
                                 "rank 1 of 2, ended by ") &&
                   ContainsSubstring(device ? "cudaEventQuery: the device's own words"
                                            : "NCCL: NCCL's own words, with detail"));
  } else {
    stand_in_gpu::fail_rank(1, ncclRemoteError);
    CHECK_THAT(failure_of(*ranks[1].group), ContainsSubstring("collective timeout: between collectives, rank 1 of 2"));
  }
  CHECK(stand_in_gpu::aborted() == 1);
  stand_in_gpu::fail_device(cudaSuccess);
}

TEST_CASE("a device error during a call is reported with the call") {
  auto ranks = make_ranks(1, never);
  std::vector<std::byte> mine(8), all(8);
  Request request = gather(ranks[0], mine.data(), all.data(), 8);
  stand_in_gpu::fail_device(cudaErrorIllegalAddress);
  try {
    while (true) ranks[0].group->ended(request);
  } catch (CollectiveTimeout const& error) {
    CHECK_THAT(error.what(),
               ContainsSubstring("all-gather bellwether::test::words, 8 bytes from this rank, rank 0 of 1"));
    CHECK_THAT(error.what(), ContainsSubstring("cudaEventQuery: the device's own words"));
  }
  request.release();
  stand_in_gpu::fail_device(cudaSuccess);
}

TEST_CASE("a call that fails or never returns is reported and aborted") {
  Watchdog watchdog({});
  auto ranks = make_ranks(2, soon, &watchdog);
  bool const never_back = GENERATE(false, true);
  std::vector<std::byte> mine(8), all(16);
  std::int64_t const lengths[] = {8, 8};
  std::string failure;
  try {
    Request const none =
        ranks[0].group->start(ranks[0].stream, "all-gather of uneven parts", words, 8, [&](NcclCalls const& calls) {
          stand_in_gpu::fail_rank(0, never_back ? ncclInProgress : ncclSystemError);
          calls.allgatherv(mine.data(), all.data(), lengths);
        });
    FAIL("no error");
  } catch (CollectiveTimeout const& error) {
    failure = error.what();
  }
  CHECK_THAT(failure, ContainsSubstring("all-gather of uneven parts bellwether::test::words, 8 bytes from this rank, "
                                        "rank 0 of 2, "));
  CHECK_THAT(failure,
             ContainsSubstring(never_back ? "not finished after "
                                          : "a group of ncclSend and ncclRecv: NCCL's own words, with detail"));
  CHECK_THAT(failure, ContainsSubstring(never_back ? "asked 1 times" : "asked 0 times"));
  CHECK(stand_in_gpu::aborted() == 1);
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("a group that cannot be created times out with an error") {
  stand_in_gpu::reset();
  Watchdog watchdog({});
  auto const start = [&] { NcclGroup const group(new_id(), 1, 2, soon, &watchdog); };
  CHECK_THROWS_AS(start(), CollectiveTimeout);  // rank 0 does not join
  try {
    start();
  } catch (CollectiveTimeout const& error) {
    CHECK_THAT(error.what(),
               ContainsSubstring("collective timeout: the start of NCCL, rank 1 of 2, not finished after"));
    CHECK_THAT(error.what(), ContainsSubstring("asked 2 times"));  // once per collective
  }
  CHECK(stand_in_gpu::aborted() == 2);
  stand_in_gpu::fail_rank(1, ncclInvalidUsage);
  try {
    start();
    FAIL("no error");
  } catch (CollectiveTimeout const& error) {
    CHECK_THAT(error.what(), ContainsSubstring("ncclCommInitRankConfig: NCCL's own words, with detail"));
  }
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("a group is aborted during stack unwinding or if it does not end") {
  if (GENERATE(false, true)) {
    try {
      auto ranks = make_ranks(2, never);
      throw 1;
    } catch (int) {
    }
    CHECK(stand_in_gpu::aborted() == 2);
  } else {
    auto ranks = make_ranks(2, soon);
    stand_in_gpu::fail_rank(0, ncclInProgress);
    ranks.clear();
    CHECK(stand_in_gpu::aborted() == 1);
    CHECK(stand_in_gpu::destroyed() == 1);
  }
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("without memory for events nothing leaks, and the collective in progress is reported") {
  int const more = GENERATE(0, 1, 5);
  stand_in_gpu::reset();
  stand_in_gpu::limit_events(more);
  CHECK_THROWS_AS(NcclGroup(new_id(), 0, 1, soon, nullptr), bellwether::RuntimeError);
  CHECK(stand_in_gpu::held() == 0);
  CHECK(stand_in_gpu::aborted() == 0);  // no group existed yet

  auto ranks = make_ranks(2, never);
  stand_in_gpu::limit_events(more);
  stand_in_gpu::put_work(ranks[0].stream, [] { return false; });
  std::vector<std::byte> mine(4), all(8);
  std::string failure;
  // Fill all slots, then one more, for which no event can be created.
  for (int starts = 0; failure.empty() && starts < 100000; ++starts) {
    try {
      Request one = gather(ranks[0], mine.data(), all.data(), 4);
      ranks[0].group->wait(one);
    } catch (CollectiveTimeout const& error) {
      failure = error.what();
    }
  }
  CHECK_THAT(failure, ContainsSubstring("rank 0 of 2, cudaEventCreateWithFlags: the device's own words"));
  CHECK(stand_in_gpu::aborted() == 1);
  int const events = stand_in_gpu::events();
  ranks.clear();
  CHECK(stand_in_gpu::held() == 2);  // the callers' streams
  CHECK(stand_in_gpu::events() == events);
  CHECK(stand_in_gpu::faults().empty());
}
