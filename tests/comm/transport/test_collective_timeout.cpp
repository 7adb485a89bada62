// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/world.hpp"
#include "tests/comm/transport/conformance.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <chrono>
#include <thread>

using namespace bellwether;
using namespace bellwether::test;

namespace {

std::string message_of_timeout(std::function<void()> const& collective) {
  try {
    collective();
  } catch (comm::CollectiveTimeout const& stuck) {
    return stuck.what();
  }
  return "not stuck";
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace

// The last rank joins only after the others have timed out.
TEST_CASE("a collective that a rank never joins times out with its name") {
  auto& everyone = world().communicator();
  if (everyone.size() == 1) SKIP("a group of one waits for nobody");
  comm::MpiOptions options;
  options.call_limit = options.long_message = GENERATE(std::int64_t{1 << 30}, std::int64_t{10});
  auto const group = comm::make_world_communicator(options);
  group->set_timeout(0.2);
  int const size = group->size();
  bool const late = group->rank() == size - 1;
  Exec const exec;
  Buffer send(100 * size), recv(100 * size);

  if (late) everyone.barrier("bellwether::test::others_gave_up");
  comm::Request request = group->start_alltoall(exec, send.all(), recv.all(), "bellwether::test::never_comes");
  if (!late) {
    auto const message = message_of_timeout([&] { group->wait(request); });
    INFO(message);
    CHECK(contains(message, "collective timeout: all-to-all bellwether::test::never_comes, "));
    CHECK(contains(message, std::to_string(100 * (size - 1)) + " bytes"));
    CHECK(contains(message, "rank " + std::to_string(group->rank()) + " of " + std::to_string(size)));
    CHECK(contains(message, "not finished after "));
    CHECK(request.pending());
    everyone.barrier("bellwether::test::others_gave_up");
  }
  // The timeout is recoverable: once all ranks have joined, the same request completes.
  group->set_timeout(60);
  group->wait(request);
  CHECK_FALSE(request.pending());
}

TEST_CASE("the timeout names the ranks that are behind and their position") {
  auto& everyone = world().communicator();
  int const size = everyone.size();
  if (size == 1) SKIP("a group of one waits for nobody");
  world().note_step(everyone.rank() == 0 ? 16 : 17);
  everyone.barrier("bellwether::test::last_common");
  everyone.set_timeout(3);
  if (everyone.rank() == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(6));  // computes meanwhile; its watchdog answers
    everyone.set_timeout(60);
    everyone.barrier("bellwether::test::late");
  } else {
    auto message = message_of_timeout([&] { everyone.barrier("bellwether::test::late"); });
    INFO(message);
    CHECK(contains(message, "barrier bellwether::test::late"));
    CHECK(contains(message, ", in step 17; rank 0 on "));
    CHECK(contains(message, " is behind, in step 16 after barrier bellwether::test::last_common"));
    CHECK_FALSE(contains(message, "does not answer"));
    CHECK_FALSE(contains(message, "rank 1 on"));
  }
  everyone.set_timeout(600);
}

TEST_CASE("a host collective that a rank never joins times out with its name") {
  auto& everyone = world().communicator();
  if (everyone.size() == 1) SKIP("a group of one waits for nobody");
  auto const group = everyone.split(0, everyone.rank());
  group->set_timeout(0.1);
  if (group->rank() > 0) {
    auto const message = message_of_timeout([&] { group->barrier("bellwether::test::lonely"); });
    INFO(message);
    CHECK(contains(message, "barrier bellwether::test::lonely"));
  }
  everyone.barrier("bellwether::test::all_gave_up");
  group->set_timeout(60);  // applies to freeing the group, too
  if (group->rank() == 0) group->barrier("bellwether::test::lonely");
}
