// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What looks after collectives of NCCL, on a machine without a GPU: order by streams, deadlines, errors, aborts.
#include "comm/nccl_group.hpp"
#include "tests/comm/stand_in_gpu.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>

using bellwether::Clock, bellwether::seconds_since;
using namespace bellwether::comm;
using Catch::Matchers::ContainsSubstring;

namespace bellwether::comm {

// In place of the one that talks by MPI.
struct Watchdog::Impl {
  std::atomic<int> begun{0}, asked{0};
};
Watchdog::Watchdog(std::vector<std::string>) : impl_(std::make_unique<Impl>()) {}
Watchdog::~Watchdog() = default;
void Watchdog::begin(char const*, Label, int) { ++impl_->begun; }
void Watchdog::ask() { ++impl_->asked; }
std::string Watchdog::verdict() const {
  return std::to_string(impl_->begun) + " begun, asked " + std::to_string(impl_->asked) + " times";
}

}  // namespace bellwether::comm

namespace {

constexpr double never = 1000, soon = 0.4;  // s
constexpr Label words = "bellwether::test::words";

struct Rank {
  std::unique_ptr<NcclGroup> group;
  cudaStream_t stream = nullptr;  ///< the caller's
};

ncclUniqueId new_id() {
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  return id;
}

std::vector<Rank> make_ranks(int size, double deadline, Watchdog* watchdog = nullptr) {
  stand_in_gpu::reset();
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  ncclUniqueId const id = new_id();
  std::vector<std::thread> starts;
  for (int rank = 0; rank < size; ++rank) {
    auto& one = ranks[static_cast<std::size_t>(rank)];
    one.stream = stand_in_gpu::new_stream();
    starts.emplace_back([&one, id, rank, size, deadline, watchdog] {
      one.group = std::make_unique<NcclGroup>(id, rank, size, deadline, watchdog);
    });
  }
  for (auto& start : starts) start.join();
  return ranks;
}

Ticket gather(Rank& rank, std::byte const* mine, std::byte* all, std::int64_t chunk, Label label = words) {
  return rank.group->start(rank.stream, "all-gather", label, chunk,
                           [&](NcclCalls const& calls) { calls.allgather(mine, all, chunk); });
}

/// Waits for a condition that a thread brings about; false if it does not within ten seconds.
bool comes(std::function<bool()> const& condition) {
  for (auto const start = Clock::now(); seconds_since(start) < 10; std::this_thread::yield())
    if (condition()) return true;
  return false;
}

/// What a group says of its failure, which comes by its own thread.
std::string failure_of(NcclGroup& group) {
  std::string text;
  comes([&] {
    try {
      group.throw_if_failed();
    } catch (StuckCollective const& error) {
      text = error.what();
    }
    return !text.empty();
  });
  return text;
}

void stand_still(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

TEST_CASE("Collectives come after what their caller's stream holds and before what it gets, and no host waits") {
  int const size = GENERATE(range(1, 9));
  auto ranks = make_ranks(size, never);
  auto const P = static_cast<std::size_t>(size);
  std::vector<std::vector<std::byte>> mine(P), all(P, std::vector<std::byte>(4 * P));
  std::vector<Ticket> tickets;
  bool formed = false;
  std::vector<std::byte> read(P);
  for (std::size_t r = 0; r < P; ++r) {
    mine[r].resize(4);
    // The last rank's part is not formed when its collective is started.
    stand_in_gpu::put_work(ranks[r].stream, [&, r] {
      if (r + 1 == P && !formed) return false;
      mine[r].assign(4, static_cast<std::byte>(r + 1));
      return true;
    });
    tickets.push_back(gather(ranks[r], mine[r].data(), all[r].data(), 4));
    CHECK_FALSE(ranks[r].group->ended(tickets[r]));
    ranks[r].group->wait(tickets[r]);
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
  // Groups are left one after the other, as ranks leave them.
  ranks.clear();
  CHECK(stand_in_gpu::destroyed() == size);
  CHECK(stand_in_gpu::aborted() == 0);
  CHECK(stand_in_gpu::faults().empty());
}

TEST_CASE("Every collective is delivered by a group of its own stream, in the order of its starts") {
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
    Ticket first = rank.group->start(rank.stream, "all-to-all", words, 4 * size, [&](NcclCalls const& calls) {
      calls.alltoall(words_of[r].data(), theirs[r].data(), 4);
    });
    Ticket second =
        rank.group->start(rank.stream, "all-gather of uneven parts", words, lengths[r],
                          [&](NcclCalls const& calls) { calls.allgatherv(part[r].data(), parts[r].data(), lengths); });
    Ticket third = rank.group->start(rank.stream, "library sum", words, 12,
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

TEST_CASE("A collective that some rank does not join ends by the deadline, names itself and lets its stream go on") {
  Watchdog watchdog({});
  auto ranks = make_ranks(3, soon, &watchdog);
  std::vector<std::byte> mine(64), all(192);
  auto const start = Clock::now();
  Ticket stuck = gather(ranks[1], mine.data(), all.data(), 64);
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
    Ticket const none = gather(ranks[1], mine.data(), all.data(), 64);
    FAIL("no error");
  } catch (StuckCollective const& error) {
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
  Ticket first = gather(ranks[0], mine.data(), all.data(), 8);
  ranks[0].group->wait(first);  // the host goes on
  for (int later = 0; later < 20; ++later) {
    Ticket next = gather(ranks[0], mine.data(), all.data(), 4, "bellwether::test::behind");
    ranks[0].group->wait(next);
  }
  CHECK_THAT(failure_of(*ranks[0].group), ContainsSubstring("all-gather bellwether::test::words, 8 bytes"));
  CHECK(stand_in_gpu::idle(ranks[0].stream));
}

TEST_CASE("A collective's time does not run while the work before it does") {
  auto ranks = make_ranks(2, 1);
  std::vector<std::byte> mine(8), all(16), others(16);
  std::atomic<bool> computed = false;
  stand_in_gpu::put_work(ranks[0].stream, [&] { return computed.load(); });
  Ticket first = gather(ranks[0], mine.data(), all.data(), 8);
  ranks[0].group->wait(first);
  stand_still(1.4);
  ranks[0].group->throw_if_failed();
  Ticket second = gather(ranks[1], mine.data(), others.data(), 8);
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
    Ticket first = gather(ranks[1], mine.data(), all.data(), 8);
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

TEST_CASE("A call that fails, or never comes back, is told and aborted") {
  Watchdog watchdog({});
  auto ranks = make_ranks(2, soon, &watchdog);
  bool const never_back = GENERATE(false, true);
  stand_in_gpu::fail_rank(0, never_back ? ncclInProgress : ncclSystemError);
  std::vector<std::byte> mine(8), all(16);
  std::int64_t const lengths[] = {8, 8};
  std::string failure;
  try {
    Ticket const none =
        ranks[0].group->start(ranks[0].stream, "all-gather of uneven parts", words, 8,
                              [&](NcclCalls const& calls) { calls.allgatherv(mine.data(), all.data(), lengths); });
    FAIL("no error");
  } catch (StuckCollective const& error) {
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
  CHECK_THROWS_AS(start(), StuckCollective);  // rank 0 does not come
  try {
    start();
  } catch (StuckCollective const& error) {
    CHECK_THAT(error.what(), ContainsSubstring("stuck collective: the start of NCCL, rank 1 of 2, not finished after"));
    CHECK_THAT(error.what(), ContainsSubstring("asked 2 times"));  // once each time
  }
  CHECK(stand_in_gpu::aborted() == 2);
  stand_in_gpu::fail_rank(1, ncclInvalidUsage);
  try {
    start();
    FAIL("no error");
  } catch (StuckCollective const& error) {
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
