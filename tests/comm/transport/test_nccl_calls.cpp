// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests the calls to NCCL on a machine without a GPU. A replacement for the library records every call and delivers the
// data once all ranks have called.
#include "comm/transport/nccl_calls.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using bellwether::comm::NcclCalls;

namespace {

struct Call {
  std::string name;
  void const* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  int peer = -1;
  int group = 0;  ///< number shared by all calls between ncclGroupStart and ncclGroupEnd
};

struct Library {
  std::map<int, std::vector<Call>> by_rank;
  int depth = 0, groups = 0;
  int still_in_progress = 0;  ///< polls until the next call completes
  ncclResult_t outcome = ncclSuccess;
};
Library library;

int rank_of(ncclComm_t group) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(group)) - 1; }
ncclComm_t group_of(int rank) { return reinterpret_cast<ncclComm_t>(static_cast<std::uintptr_t>(rank) + 1); }

ncclResult_t took(ncclComm_t group, Call call) {
  call.group = library.depth > 0 ? library.groups : ++library.groups;
  library.by_rank[rank_of(group)].push_back(std::move(call));
  return library.still_in_progress > 0 ? ncclInProgress : library.outcome;
}

}  // namespace

extern "C" {
ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}
char const* ncclGetErrorString(ncclResult_t) { return "the stand-in's error"; }
char const* ncclGetLastError(ncclComm_t) { return "and its detail"; }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* status) {
  *status = --library.still_in_progress > 0 ? ncclInProgress : library.outcome;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  if (library.depth++ == 0) ++library.groups;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  --library.depth;
  return library.still_in_progress > 0 ? ncclInProgress : library.outcome;
}
ncclResult_t ncclSend(void const* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t group,
                      cudaStream_t) {
  CHECK(type == ncclUint8);
  return took(group, {.name = "send", .from = from, .count = count, .peer = peer});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t group, cudaStream_t) {
  CHECK(type == ncclUint8);
  return took(group, {.name = "receive", .to = to, .count = count, .peer = peer});
}
ncclResult_t ncclAllGather(void const* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t group,
                           cudaStream_t) {
  CHECK(type == ncclUint8);
  return took(group, {.name = "all-gather", .from = from, .to = to, .count = count});
}
ncclResult_t ncclAlltoAll(void const* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t group,
                          cudaStream_t) {
  CHECK(type == ncclUint8);
  return took(group, {.name = "all-to-all", .from = from, .to = to, .count = count});
}
ncclResult_t ncclAllReduce(void const* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t group, cudaStream_t) {
  CHECK(type == ncclFloat32);
  CHECK(operation == ncclSum);
  return took(group, {.name = "sum", .from = from, .to = to, .count = count});
}
}

namespace {

/// Delivers the recorded calls of all ranks. Sends and receives of a pair match in order, within a group.
void deliver(int ranks) {
  CHECK(library.depth == 0);
  std::map<std::pair<int, int>, std::vector<Call>> sends, receives;
  for (int rank = 0; rank < ranks; ++rank) {
    int group = 0;
    for (auto const& call : library.by_rank[rank]) {
      if (call.name == "send") sends[{rank, call.peer}].push_back(call);
      if (call.name == "receive") receives[{call.peer, rank}].push_back(call);
      if (call.name == "send" || call.name == "receive") {
        // Outside a group, two ranks that both send first would deadlock.
        CHECK((group == 0 || group == call.group));
        group = call.group;
      }
      if (call.name != "all-gather" && call.name != "all-to-all") continue;
      auto const place = static_cast<std::size_t>(&call - library.by_rank[rank].data());
      for (int peer = 0; peer < ranks; ++peer) {
        auto const& theirs = library.by_rank[peer].at(place);
        CHECK(theirs.name == call.name);
        CHECK(theirs.count == call.count);
        auto const* const from = static_cast<std::byte const*>(theirs.from) +
                                 (call.name == "all-to-all" ? static_cast<std::size_t>(rank) * call.count : 0);
        std::memcpy(static_cast<std::byte*>(call.to) + static_cast<std::size_t>(peer) * call.count, from, call.count);
      }
    }
  }
  for (auto const& [ends, posted] : sends) {
    auto const& awaited = receives[ends];
    REQUIRE(posted.size() == awaited.size());
    for (std::size_t k = 0; k < posted.size(); ++k) {
      REQUIRE(posted[k].count == awaited[k].count);
      std::memcpy(awaited[k].to, posted[k].from, posted[k].count);
    }
  }
  for (auto const& [ends, awaited] : receives) CHECK(sends[ends].size() == awaited.size());
}

using Buffer = std::vector<std::byte>;

/// Returns byte k of the data from `from` to `to`.
std::byte content(int from, int to, std::int64_t k) { return static_cast<std::byte>(37 * from + 11 * to + 5 * k + 1); }

/// Makes every rank's call, then delivers.
template <class Call>
void on_all_ranks(int ranks, Call const& call, bool native_alltoall = true) {
  library = {};
  for (int rank = 0; rank < ranks; ++rank)
    call(rank, NcclCalls(
                   group_of(rank), nullptr, rank, ranks, [] {}, native_alltoall));
  deliver(ranks);
}

}  // namespace

TEST_CASE("an all-to-all of equal chunks is delivered", "[nccl]") {
  int const ranks = GENERATE(range(2, 9));
  std::int64_t const chunk = GENERATE(1, 64, 1000);
  bool const native = GENERATE(true, false);
  std::vector<Buffer> from, to;
  for (int rank = 0; rank < ranks; ++rank) {
    to.emplace_back(static_cast<std::size_t>(ranks * chunk));
    auto& buffer = from.emplace_back();
    for (int peer = 0; peer < ranks; ++peer)
      for (std::int64_t k = 0; k < chunk; ++k) buffer.push_back(content(rank, peer, k));
  }
  on_all_ranks(
      ranks,
      [&](int rank, NcclCalls const& calls) {
        calls.alltoall(from[static_cast<std::size_t>(rank)].data(), to[static_cast<std::size_t>(rank)].data(), chunk);
      },
      native);
  CHECK(NcclCalls::has_native_alltoall());  // the replacement has it
  CHECK(library.by_rank[0].size() == (native ? 1u : static_cast<std::size_t>(2 * ranks)));
  for (int rank = 0; rank < ranks; ++rank)
    for (int peer = 0; peer < ranks; ++peer)
      for (std::int64_t k = 0; k < chunk; ++k)
        REQUIRE(to[static_cast<std::size_t>(rank)][static_cast<std::size_t>(peer * chunk + k)] ==
                content(peer, rank, k));
}

TEST_CASE("an all-to-all of uneven chunks is delivered without posting empty chunks", "[nccl]") {
  int const ranks = GENERATE(range(2, 9));
  auto const length = [](int sender, int receiver) { return std::int64_t{(sender * 3 + receiver * 5) % 7} * 4; };
  std::vector<Buffer> from, to;
  std::vector<std::vector<std::int64_t>> sent, received;
  for (int rank = 0; rank < ranks; ++rank) {
    auto& buffer = from.emplace_back();
    std::int64_t total = 0;
    auto &out = sent.emplace_back(), &in = received.emplace_back();
    for (int peer = 0; peer < ranks; ++peer) {
      out.push_back(length(rank, peer));
      in.push_back(length(peer, rank));
      total += in.back();
      for (std::int64_t k = 0; k < out.back(); ++k) buffer.push_back(content(rank, peer, k));
    }
    to.emplace_back(static_cast<std::size_t>(total));
  }
  on_all_ranks(ranks, [&](int rank, NcclCalls const& calls) {
    auto const r = static_cast<std::size_t>(rank);
    calls.alltoallv(from[r].data(), sent[r], to[r].data(), received[r]);
  });
  for (int rank = 0; rank < ranks; ++rank) {
    std::size_t at = 0;
    for (int peer = 0; peer < ranks; ++peer)
      for (std::int64_t k = 0; k < length(peer, rank); ++k)
        REQUIRE(to[static_cast<std::size_t>(rank)][at++] == content(peer, rank, k));
    for (auto const& call : library.by_rank[rank]) CHECK(call.count > 0);
  }
}

TEST_CASE("parts are gathered in rank order", "[nccl]") {
  int const ranks = GENERATE(range(2, 9));
  bool const even = GENERATE(true, false);
  std::vector<std::int64_t> lengths;
  for (int rank = 0; rank < ranks; ++rank) lengths.push_back(even ? 12 : rank * 5 % 4 * 3);
  std::vector<Buffer> mine, all;
  std::int64_t total = 0;
  for (auto const length : lengths) total += length;
  for (int rank = 0; rank < ranks; ++rank) {
    auto& part = mine.emplace_back();
    for (std::int64_t k = 0; k < lengths[static_cast<std::size_t>(rank)]; ++k) part.push_back(content(rank, 0, k));
    all.emplace_back(static_cast<std::size_t>(total));
  }
  on_all_ranks(ranks, [&](int rank, NcclCalls const& calls) {
    auto const r = static_cast<std::size_t>(rank);
    if (even)
      calls.allgather(mine[r].data(), all[r].data(), 12);
    else
      calls.allgatherv(mine[r].data(), all[r].data(), lengths);
  });
  for (auto const& gathered : all) {
    std::size_t at = 0;
    for (int rank = 0; rank < ranks; ++rank)
      for (std::int64_t k = 0; k < lengths[static_cast<std::size_t>(rank)]; ++k)
        REQUIRE(gathered[at++] == content(rank, 0, k));
  }
}

TEST_CASE("posted transfers go to their peers, and a sum is one call", "[nccl]") {
  int const ranks = GENERATE(range(2, 9));
  std::vector<Buffer> right(static_cast<std::size_t>(ranks)), left(right);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::int64_t k = 0; k < 24; ++k) right[static_cast<std::size_t>(rank)].push_back(content(rank, 1, k));
    left[static_cast<std::size_t>(rank)].resize(24);
  }
  on_all_ranks(ranks, [&](int rank, NcclCalls const& calls) {
    auto const r = static_cast<std::size_t>(rank);
    std::vector<NcclCalls::Transfer> const ring{{true, (rank + 1) % ranks, right[r].data(), 24},
                                                {false, (rank + ranks - 1) % ranks, left[r].data(), 24}};
    calls.exchange(ring);
  });
  for (int rank = 0; rank < ranks; ++rank)
    CHECK(left[static_cast<std::size_t>(rank)] == right[static_cast<std::size_t>((rank + ranks - 1) % ranks)]);

  library = {};
  std::vector<float> values(10);
  NcclCalls(group_of(0), nullptr, 0, ranks, [] {}).sum(values.data(), 10);
  REQUIRE(library.by_rank[0].size() == 1);
  CHECK(library.by_rank[0][0].count == 10);
  CHECK(library.by_rank[0][0].to == values.data());
}

TEST_CASE("a call in progress is polled until it ends, and errors are reported", "[nccl]") {
  library = {};
  std::byte from[4], to[4];
  int polls = 0;
  NcclCalls const calls(group_of(0), nullptr, 0, 1, [&] { ++polls; });
  std::int64_t const lengths[] = {4};
  library.still_in_progress = 3;
  calls.alltoallv(from, lengths, to, lengths);
  CHECK(polls == 3);
  library.still_in_progress = 2;
  library.outcome = ncclSystemError;
  try {
    calls.allgather(from, to, 4);
    FAIL("no error");
  } catch (std::exception const& error) {
    CHECK(std::string(error.what()) == "ncclAllGather: the stand-in's error, and its detail");
  }
  // Failed posts leave no group open.
  library = {};
  library.outcome = ncclInvalidArgument;
  CHECK_THROWS(calls.alltoall(from, to, 4));
  CHECK_THROWS(calls.alltoallv(from, lengths, to, lengths));
  CHECK(library.depth == 0);
  // A poll that throws, as on a timeout, ends the call.
  library = {};
  library.still_in_progress = 1 << 20;
  NcclCalls const given_up(group_of(0), nullptr, 0, 1, [] { throw std::string("late"); });
  CHECK_THROWS_AS(given_up.allgather(from, to, 4), std::string);
}
