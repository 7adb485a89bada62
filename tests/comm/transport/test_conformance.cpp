// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "tests/comm/transport/conformance.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <numeric>
#include <thread>

// One test suite for all communicators: self, MPI whole, split into messages, staged, and subgroups. After a collective
// has begun, tests use CHECK, not REQUIRE: a rank that returned early would block the others.
using namespace bellwether;
using namespace bellwether::test;
using bellwether::comm::Message;
using bellwether::comm::Request;

namespace {

Candidate candidate() {
  auto const all = candidates();
  return all[GENERATE(range(std::size_t{0}, candidates().size()))];
}

std::int64_t sum(std::vector<std::int64_t> const& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

/// Fills each chunk; chunk j holds the data that `from` sends to j.
void fill(Buffer& buffer, std::vector<std::int64_t> const& lengths, int from, unsigned salt) {
  std::size_t k = 0;
  for (int to = 0; to < static_cast<int>(lengths.size()); ++to)
    for (std::int64_t i = 0; i < lengths[at(to)]; ++i) buffer.host()[k++] = pattern(from, to, i, salt);
}

bool holds(Buffer& buffer, std::vector<std::int64_t> const& lengths,
           std::function<std::byte(int, std::int64_t)> value) {
  std::size_t k = 0;
  for (int from = 0; from < static_cast<int>(lengths.size()); ++from)
    for (std::int64_t i = 0; i < lengths[at(from)]; ++i)
      if (buffer.host()[k++] != value(from, i)) return false;
  return true;
}

}  // namespace

TEST_CASE("all-to-all delivers chunk j to rank j") {
  auto const which = candidate();
  auto const chunk = GENERATE(std::int64_t{0}, 1, 3, 64, 1001, 30000);
  CAPTURE(which.name, chunk);
  auto const group = which.make();
  int const size = group->size();
  int const me = group->rank();
  Exec const exec;
  std::vector<std::int64_t> const lengths(at(size), chunk);
  Buffer send(chunk * size);
  Buffer recv(chunk * size);
  fill(send, lengths, me, 1);
  send.upload(exec);
  auto const before = group->traffic();
  Request request = group->start_alltoall(exec, send.all(), recv.all(), "bellwether::test::alltoall");
  CHECK(request.pending());
  group->wait(request);
  CHECK_FALSE(request.pending());
  recv.download(exec);
  CHECK(holds(recv, lengths, [&](int from, std::int64_t k) { return pattern(from, me, k, 1); }));
  CHECK(group->traffic().sent_bytes - before.sent_bytes == chunk * (size - 1));
  CHECK(group->traffic().calls - before.calls == 1);
}

TEST_CASE("all-to-all of uneven chunks, some empty") {
  auto const which = candidate();
  auto const scale = GENERATE(std::int64_t{1}, 37, 9000);
  CAPTURE(which.name, scale);
  auto const group = which.make();
  int const size = group->size();
  int const me = group->rank();
  Exec const exec;
  auto const length = [&](int from, int to) { return std::int64_t{(from * 3 + to * 5) % 4} * scale; };
  std::vector<std::int64_t> send_bytes, recv_bytes;
  for (int peer = 0; peer < size; ++peer) {
    send_bytes.push_back(length(me, peer));
    recv_bytes.push_back(length(peer, me));
  }
  Buffer send(sum(send_bytes));
  Buffer recv(sum(recv_bytes));
  fill(send, send_bytes, me, 2);
  send.upload(exec);
  auto const before = group->traffic();
  Request request =
      group->start_alltoallv(exec, send.all(), send_bytes, recv.all(), recv_bytes, "bellwether::test::alltoallv");
  group->progress();
  group->wait(request);
  recv.download(exec);
  CHECK(holds(recv, recv_bytes, [&](int from, std::int64_t k) { return pattern(from, me, k, 2); }));
  CHECK(group->traffic().sent_bytes - before.sent_bytes == sum(send_bytes) - length(me, me));
}

TEST_CASE("all-gather delivers every part to every rank") {
  auto const which = candidate();
  auto const part = GENERATE(std::int64_t{0}, 1, 5, 1001, 30000);
  bool const uneven = GENERATE(false, true);
  CAPTURE(which.name, part, uneven);
  auto const group = which.make();
  int const size = group->size();
  int const me = group->rank();
  Exec const exec;
  std::vector<std::int64_t> lengths;
  for (int peer = 0; peer < size; ++peer) lengths.push_back(uneven ? part * (peer % 3) : part);
  Buffer mine(lengths[at(me)]);
  Buffer all(sum(lengths));
  for (std::int64_t k = 0; k < lengths[at(me)]; ++k) mine.host()[static_cast<std::size_t>(k)] = pattern(me, 0, k, 3);
  mine.upload(exec);
  auto const before = group->traffic();
  Request request = uneven
                        ? group->start_allgatherv(exec, mine.all(), all.all(), lengths, "bellwether::test::allgatherv")
                        : group->start_allgather(exec, mine.all(), all.all(), "bellwether::test::allgather");
  while (!group->ended(request)) std::this_thread::yield();
  group->wait(request);
  all.download(exec);
  CHECK(holds(all, lengths, [&](int from, std::int64_t k) { return pattern(from, 0, k, 3); }));
  CHECK(group->traffic().sent_bytes - before.sent_bytes == lengths[at(me)] * (size - 1));
}

TEST_CASE("exchange with both neighbours of a ring, several messages a pair") {
  auto const which = candidate();
  auto const length = GENERATE(std::int64_t{0}, 1, 999, 20000);
  CAPTURE(which.name, length);
  auto const group = which.make();
  int const size = group->size();
  int const me = group->rank();
  Exec const exec;
  std::vector<Message> messages;
  int const next = (me + 1) % size;
  int const previous = (me + size - 1) % size;
  // With two ranks, both neighbours are the same rank: messages of a pair match in call order.
  Buffer to_next(length), to_next_again(length + 1), from_previous(length), from_previous_again(length + 1);
  for (std::int64_t k = 0; k < length; ++k) to_next.host()[static_cast<std::size_t>(k)] = pattern(me, next, k, 4);
  for (std::int64_t k = 0; k <= length; ++k)
    to_next_again.host()[static_cast<std::size_t>(k)] = pattern(me, next, k, 5);
  to_next.upload(exec);
  to_next_again.upload(exec);
  if (size > 1)
    messages = {{Message::Kind::send, next, to_next.all()},
                {Message::Kind::send, next, to_next_again.all()},
                {Message::Kind::receive, previous, from_previous.all()},
                {Message::Kind::receive, previous, from_previous_again.all()}};
  auto const before = group->traffic();
  Request request = group->start_exchange(exec, messages, "bellwether::test::exchange");
  group->wait(request);
  CHECK(group->traffic().sent_bytes - before.sent_bytes == (size > 1 ? 2 * length + 1 : 0));
  if (size == 1) return;
  from_previous.download(exec);
  from_previous_again.download(exec);
  CHECK(holds(from_previous, {length}, [&](int, std::int64_t k) { return pattern(previous, me, k, 4); }));
  CHECK(holds(from_previous_again, {length + 1}, [&](int, std::int64_t k) { return pattern(previous, me, k, 5); }));
}

TEST_CASE("requests may be waited for in any order") {
  auto const which = candidate();
  CAPTURE(which.name);
  auto const group = which.make();
  int const size = group->size();
  int const me = group->rank();
  Exec const exec;
  int const rounds = 5;
  std::vector<Buffer> sends, recvs;
  std::vector<std::vector<std::int64_t>> lengths;
  std::vector<Request> requests;
  for (int round = 0; round < rounds; ++round) {
    std::int64_t const chunk = 100 + 3000 * round;
    lengths.emplace_back(at(size), chunk);
    sends.emplace_back(chunk * size);
    recvs.emplace_back(chunk * size);
    fill(sends.back(), lengths.back(), me, unsigned(round));
    sends.back().upload(exec);
    requests.push_back(group->start_alltoallv(exec, sends.back().all(), lengths.back(), recvs.back().all(),
                                              lengths.back(), "bellwether::test::interleaved"));
  }
  // A different order on every rank.
  for (int k = 0; k < rounds; ++k) {
    auto const round = at((k * 2 + me) % rounds);
    group->wait(requests[round]);
    recvs[round].download(exec);
    CHECK(holds(recvs[round], lengths[round],
                [&](int from, std::int64_t i) { return pattern(from, me, i, unsigned(round)); }));
  }
}

TEST_CASE("host sums are formed in rank order and equal on all ranks") {
  auto const which = candidate();
  CAPTURE(which.name);
  auto const group = which.make();
  auto const value = [](int rank, int k) { return (rank % 2 ? -1.0 : 1.0) * 1e16 / (rank + 1) + k * 0.125; };
  std::vector<double> values;
  for (int k = 0; k < 40; ++k) values.push_back(value(group->rank(), k));
  group->sum_host(values, "bellwether::test::sum_host");
  for (int k = 0; k < 40; ++k) {
    double expected = value(0, k);
    for (int rank = 1; rank < group->size(); ++rank) expected += value(rank, k);
    CHECK(values[at(k)] == expected);
  }
}

TEST_CASE("broadcast reaches every rank from any root") {
  auto const which = candidate();
  auto const length = GENERATE(std::int64_t{0}, 1, 5000);
  CAPTURE(which.name, length);
  auto const group = which.make();
  for (int root = 0; root < group->size(); ++root) {
    std::vector<std::byte> values(static_cast<std::size_t>(length));
    if (group->rank() == root)
      for (std::int64_t k = 0; k < length; ++k) values[static_cast<std::size_t>(k)] = pattern(root, 0, k, 6);
    group->broadcast_host(values, root, "bellwether::test::broadcast");
    bool equal = true;
    for (std::int64_t k = 0; k < length; ++k)
      equal = equal && values[static_cast<std::size_t>(k)] == pattern(root, 0, k, 6);
    CHECK(equal);
  }
}

TEST_CASE("the library's sum is the sum") {
  auto const which = candidate();
  auto const count = GENERATE(std::int64_t{0}, 1, 1000);
  CAPTURE(which.name, count);
  auto const group = which.make();
  Exec const exec;
  Buffer values(count * 4);
  auto const floats = [&] { return reinterpret_cast<float*>(values.host().data()); };
  // Integers below 2^24: sums are exact in any order.
  for (std::int64_t k = 0; k < count; ++k) floats()[k] = static_cast<float>(k * (group->rank() + 1));
  values.upload(exec);
  Request request = group->start_library_sum(exec, reinterpret_cast<float*>(values.all().data), count,
                                             "bellwether::test::library_sum");
  group->wait(request);
  values.download(exec);
  int const total = group->size() * (group->size() + 1) / 2;
  bool equal = true;
  for (std::int64_t k = 0; k < count; ++k) equal = equal && floats()[k] == static_cast<float>(k * total);
  CHECK(equal);
}

TEST_CASE("a split orders ranks by key and works independently") {
  auto const which = candidate();
  CAPTURE(which.name);
  auto const group = which.make();
  int const me = group->rank();
  auto const part = group->split(me % 2, -me);
  int const members = (group->size() + 1 - me % 2) / 2;
  CHECK(part->size() == members);
  CHECK(part->rank() == members - 1 - me / 2);
  std::vector<double> one = {double(me)};
  part->sum_host(one, "bellwether::test::split_sum");
  double expected = 0;
  for (int rank = me % 2; rank < group->size(); rank += 2) expected += rank;
  CHECK(one[0] == expected);
  part->barrier("bellwether::test::barrier");
}

TEST_CASE("wrong shapes are rejected before anything is sent") {
  auto const which = candidate();
  CAPTURE(which.name);
  auto const group = which.make();
  Exec const exec;
  Buffer small(8), large(16 * group->size());
  std::vector<std::int64_t> const lengths(at(group->size()), 7);
  Request none;
  CHECK_THROWS_AS(group->start_allgather(exec, small.all(), large.all(), "bellwether::test::refused"), InternalError);
  CHECK_THROWS_AS(group->start_alltoallv(exec, large.all(), lengths, large.all(), lengths, "bellwether::test::refused"),
                  InternalError);
  CHECK_THROWS_AS(group->wait(none), InternalError);
  std::vector<Message> const nobody = {{Message::Kind::send, group->size(), small.all()}};
  CHECK_THROWS_AS(group->start_exchange(exec, nobody, "bellwether::test::refused"), InternalError);
  CHECK_THROWS_AS(group->split(-1, 0), InternalError);
}
