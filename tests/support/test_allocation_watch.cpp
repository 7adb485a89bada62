// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "tests/support/allocation_watch.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>

using namespace bellwether;
using bellwether::test::AllocationWatch;

TEST_CASE("the watch counts operator new and Kokkos memory, and nothing else") {
  AllocationWatch watch;
  watch.arm();
  CHECK(watch.disarm().none());

  watch.arm();
  auto numbers = std::make_unique<std::array<double, 100>>();
  (*numbers)[0] = 1;
  auto const host = watch.disarm();
  CHECK(host.host == 1);
  CHECK(host.host_bytes == 800);
  CHECK(host.retained == 1);
  CHECK_FALSE(host.none());
  CHECK(host.report.find("operator new, 800 bytes") != std::string::npos);

  watch.arm();
  ::operator delete[](::operator new[](500, std::nothrow));
  CHECK(watch.disarm().host_bytes == 500);

  watch.arm();
  test::excuse_this_thread(true);
  auto const uncounted = std::make_unique<std::array<double, 100>>();
  test::excuse_this_thread(false);
  CHECK(watch.disarm().none());

  watch.arm();
  Kokkos::View<double*> const view("bellwether::test::watched", 100);
  auto const seen = watch.disarm();
  CHECK(seen.views == 1);
  CHECK(seen.report.find("bellwether::test::watched") != std::string::npos);
  CHECK_THROWS_AS(AllocationWatch(), InternalError);
}

TEST_CASE("collectives do not allocate after their first run") {
  comm::MpiOptions options;
  options.staged = GENERATE(false, true);
  options.call_limit = GENERATE(std::int64_t{1} << 30, std::int64_t{1000});
  options.long_message = GENERATE(std::int64_t{1} << 30, std::int64_t{1000});
  auto const wire = GENERATE(comm::Wire::fp32, comm::Wire::bf16);
  auto const group = comm::make_world_communicator(options);
  Exec const exec;
  comm::DenseMean mean(*group, 5000, wire, comm::Allreduce::ordered);
  Vec<float> const values("bellwether::test::values", 5000);
  AllocationWatch watch;
  for (int step = 0; step < 10; ++step) {
    if (step == 3) watch.arm();
    std::array<double, 3> scalars{1, 2, 3};
    mean.start(exec, values);
    group->sum_host(scalars, "bellwether::test::scalars");
    mean.wait(exec);
  }
  auto const seen = watch.disarm();
  INFO(seen.report);
  CHECK(seen.host == 0);
  CHECK(seen.views == 0);
  CHECK(seen.retained <= 0);
}
