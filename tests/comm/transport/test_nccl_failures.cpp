// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What looks after collectives of NCCL, on a machine without a GPU: deadlines, errors and aborts.
#include "tests/comm/transport/nccl_ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>

using namespace bellwether::comm;
using namespace bellwether::comm::test;
using bellwether::Clock, bellwether::seconds_since;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("A collective that some rank does not join ends by the deadline, names itself and lets its stream go on") {
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
             ContainsSubstring("stuck collective: all-gather bellwether::test::words, 64 bytes from this rank, "
                               "rank 1 of 3, not finished after "));
  CHECK_THAT(failure, ContainsSubstring("1 begun, asked 1 times"));  // once, when half of it had passed
  CHECK(stand_in_gpu::idle(ranks[1].stream));
  CHECK(stand_in_gpu::aborted() == 1);
  // From here on everything says so.
  try {
    Request const none = gather(ranks[1], mine.data(), all.data(), 64);
    FAIL("no error");
  } catch (CollectiveTimeout const& error) {
    CHECK(error.what() == failure);
  }
  // Those that wait for none have no deadline.
  ranks[0].group->throw_if_failed();
  ranks.clear();
  CHECK(stand_in_gpu::aborted() == 1);
  CHECK(stand_in_gpu::destroyed() == 2);
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("Collectives that are started behind a stuck one do not hide it") {
  auto ranks = make_ranks(2, soon);
  std::vector<std::byte> mine(8), all(16);
  Request first = gather(ranks[0], mine.data(), all.data(), 8);
  ranks[0].group->wait(first);  // the host goes on
  for (int later = 0; later < 20; ++later) {
    Request next = gather(ranks[0], mine.data(), all.data(), 4, "bellwether::test::behind");
    ranks[0].group->wait(next);
  }
  CHECK_THAT(failure_of(*ranks[0].group), ContainsSubstring("all-gather bellwether::test::words, 8 bytes"));
  CHECK(stand_in_gpu::idle(ranks[0].stream));
}

TEST_CASE("The first of several collectives is the one that is told, whatever its place was before") {
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
  stand_still(0.25);  // some looks
  computed = true;
  CHECK_THAT(failure_of(*ranks[0].group), ContainsSubstring("all-gather bellwether::test::words, 8 bytes"));
  first.release();
  second.release();
}

TEST_CASE("A call that does not come back behind a stuck collective does not hide it") {
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

TEST_CASE("A collective's time does not run while the work before it does") {
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

TEST_CASE("What NCCL or the device meets while nobody calls is told with what was under way") {
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
               ContainsSubstring("stuck collective: all-gather bellwether::test::words, 8 bytes from this rank, "
                                 "rank 1 of 2, ended by ") &&
                   ContainsSubstring(device ? "cudaEventQuery: the device's own words"
                                            : "NCCL: NCCL's own words, with detail"));
  } else {
    stand_in_gpu::fail_rank(1, ncclRemoteError);
    CHECK_THAT(failure_of(*ranks[1].group), ContainsSubstring("stuck collective: between collectives, rank 1 of 2"));
  }
  CHECK(stand_in_gpu::aborted() == 1);
  stand_in_gpu::fail_device(cudaSuccess);
}

TEST_CASE("A device that fails under a call is told with the call") {
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

TEST_CASE("A call that fails, or never comes back, is told and aborted") {
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

TEST_CASE("A group that does not come about is told by the deadline") {
  stand_in_gpu::reset();
  Watchdog watchdog({});
  auto const start = [&] { NcclGroup const group(new_id(), 1, 2, soon, &watchdog); };
  CHECK_THROWS_AS(start(), CollectiveTimeout);  // rank 0 does not come
  try {
    start();
  } catch (CollectiveTimeout const& error) {
    CHECK_THAT(error.what(), ContainsSubstring("stuck collective: the start of NCCL, rank 1 of 2, not finished after"));
    CHECK_THAT(error.what(), ContainsSubstring("asked 2 times"));  // once each time
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

TEST_CASE("A group that is left while an exception unwinds, or that does not end, is aborted") {
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

TEST_CASE("Where the device has no memory for events nothing is left behind, and what is under way is told") {
  int const more = GENERATE(0, 1, 5);
  stand_in_gpu::reset();
  stand_in_gpu::limit_events(more);
  CHECK_THROWS_AS(NcclGroup(new_id(), 0, 1, soon, nullptr), bellwether::RuntimeError);
  CHECK(stand_in_gpu::held() == 0);
  CHECK(stand_in_gpu::aborted() == 0);  // there was no group yet

  auto ranks = make_ranks(2, never);
  stand_in_gpu::limit_events(more);
  stand_in_gpu::put_work(ranks[0].stream, [] { return false; });
  std::vector<std::byte> mine(4), all(8);
  std::string failure;
  // As many as there are places, and one more, for which there is none.
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
