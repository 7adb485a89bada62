// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/link_rate.hpp"
#include "comm/transport/receive_queue.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <chrono>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

using namespace bellwether;
using Catch::Approx;

TEST_CASE("the receive limit follows the measured rate and the polling interval") {
  comm::LinkRate rate;
  auto const everything = std::numeric_limits<std::int64_t>::max();
  CHECK(rate.allowed() == everything);
  rate.begin(100);
  rate.look(101);
  rate.received(3'000'000);
  CHECK(rate.allowed() == everything);  // no limit during the first period
  rate.look(102);
  rate.received(1'000'000);
  rate.end(102);
  rate.begin(200);  // 2 MB/s; earlier polling intervals do not matter
  CHECK(rate.allowed() == Approx(200'000));
  rate.look(200.001);
  CHECK(rate.allowed() == Approx(200'000));
  rate.look(200.501);
  CHECK(rate.allowed() == Approx(2'000'000));
  rate.received(1'000);
  rate.end(200.501);
  rate.begin(300);  // a low rate lowers the next limit
  CHECK(rate.allowed() < 200'000);
}

TEST_CASE("on a slow link long messages arrive one at a time in order") {
  constexpr int messages = 6, size = 1000, peer = 0;
  auto const long_message = GENERATE(1000, 1001);
  bool const is_long = long_message == size;
  comm::ReceiveQueue queue(MPI_COMM_SELF, long_message);
  comm::MpiOperation operation;
  std::vector<std::byte> sent(messages * size), received(messages * size);
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = static_cast<std::byte>(k / size * 7 + k);
  auto const part = [](std::vector<std::byte>& all, int k) { return comm::Bytes{all.data() + k * size, size}; };
  auto const send = [&](int k) {
    comm::check_mpi(MPI_Send(part(sent, k).data, size, MPI_BYTE, peer, 5, MPI_COMM_SELF), "MPI_Send");
  };

  operation.begin(Exec(), "a message", "bellwether::test::first", false);
  for (int k = 0; k < messages; ++k) queue.post(operation, part(received, k), peer, 5);
  CHECK(queue.under_way() == (is_long ? messages : 0));  // the link's rate is still unknown
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (int k = 0; k < messages; ++k) send(k);
  while (!operation.test()) queue.advance();
  queue.advance();
  operation.finish();
  CHECK(queue.under_way() == 0);
  CHECK(received == sent);

  std::ranges::fill(received, std::byte{});
  operation.begin(Exec(), "a message", "bellwether::test::second", false);
  for (int k = 0; k < messages; ++k) queue.post(operation, part(received, k), peer, 5);
  CHECK(operation.held == (is_long ? messages - 1 : 0));
  CHECK(std::cmp_equal(queue.under_way(), is_long ? 1 : 0));
  CHECK(!operation.test());
  for (int k = 0; k < messages; ++k) {
    send(k);
    while (is_long && operation.held == messages - 1 - k && k < messages - 1) queue.advance();
  }
  while (!operation.test()) queue.advance();
  queue.advance();
  operation.finish();
  CHECK(queue.under_way() == 0);
  CHECK(received == sent);
}
