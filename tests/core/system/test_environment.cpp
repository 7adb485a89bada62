// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/environment.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <map>

using namespace bellwether;

namespace {

using Variables = std::map<std::string, std::string>;

Lookup lookup_in(Variables const& variables) {
  return [&](char const* name) -> char const* {
    auto const found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::vector<std::string> faults_of(Variables const& variables) {
  return faults_of_thread_variables(lookup_in(variables));
}

}  // namespace

TEST_CASE("valid environment variables are not faults") {
  CHECK(faults_of({}).empty());
  CHECK(faults_of({{"KOKKOS_NUM_THREADS", "512"},
                   {"KOKKOS_DEVICE_ID", "0"},
                   {"KOKKOS_MAP_DEVICE_ID_BY", "mpi_rank"},
                   {"KOKKOS_DISABLE_WARNINGS", "YES"},
                   {"KOKKOS_VISIBLE_DEVICES", "0, 2,1"},
                   {"OMP_NUM_THREADS", " 4 , 2 "},
                   {"OMP_PROC_BIND", "Spread, close"},
                   {"OMP_PLACES", "sockets( 2 )"},
                   {"OMP_WAIT_POLICY", "PASSIVE"},
                   {"OMP_DYNAMIC", "false"},
                   {"GOMP_SPINCOUNT", "10k"}})
            .empty());
  for (auto const* size : {"512", "512k", " 8 M ", "1G", "65536B"}) CHECK(faults_of({{"OMP_STACKSIZE", size}}).empty());
}

TEST_CASE("an invalid variable is reported with its value and the allowed ones") {
  CHECK(faults_of({{"KOKKOS_NUM_THREADS", "abc"}}) ==
        std::vector<std::string>{"KOKKOS_NUM_THREADS: 'abc'; allowed: a whole number, 1 or more; correct or unset this "
                                 "environment variable"});
  for (auto const* value : {"", " ", "0", "-1", "+1", "4x", "1.5", "0x10", "4294967297", "99999999999999999999"}) {
    INFO(value);
    CHECK(faults_of({{"KOKKOS_NUM_THREADS", value}}).size() == 1);
    CHECK(faults_of({{"OMP_NUM_THREADS", value}}).size() == 1);
    CHECK(faults_of({{"OMP_THREAD_LIMIT", value}}).size() == 1);
  }
  for (auto const* value : {"", "K", "1T", "-1M", "99999999999999999999", "99999999999999999G", "1MM"}) {
    INFO(value);
    CHECK(faults_of({{"OMP_STACKSIZE", value}}).size() == 1);
  }
  CHECK(faults_of({{"OMP_NUM_THREADS", "2,"}, {"OMP_PROC_BIND", "true,close"}, {"KOKKOS_TUNE_INTERNALS", "maybe"}})
            .size() == 3);
  for (auto const* value : {"", "core", "cores(", "cores(0)", "cores)", "{a}"}) {
    INFO(value);
    CHECK(faults_of({{"OMP_PLACES", value}}).size() == 1);
  }
  for (auto const* value : {"threads", "CORES(4)", "{0:4},{4:4}", "{0,1}:2:4, !{3}"})
    CHECK(faults_of({{"OMP_PLACES", value}}).empty());
  auto const longer = faults_of({{"OMP_PROC_BIND", std::string(1000, 'x')}});
  REQUIRE(longer.size() == 1);
  CHECK(longer[0].starts_with("OMP_PROC_BIND: '" + std::string(40, 'x') + "...'; allowed: "));
}

TEST_CASE("A value is shortened to whole characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc...");
  CHECK(shortened("ab\u00e9", 3) == "ab...");
  CHECK(shortened("ab\u00e9", 4) == "ab\u00e9");
  CHECK(shortened("\u20ac", 1) == "...");
}

TEST_CASE("OMP_STACKSIZE takes precedence over its older name") {
  CHECK(stack_bytes(lookup_in({})) == 0);
  CHECK(stack_bytes(lookup_in({{"OMP_STACKSIZE", "2"}})) == 2048);
  CHECK(stack_bytes(lookup_in({{"GOMP_STACKSIZE", "1M"}, {"OMP_STACKSIZE", "100b"}})) == 100);
  CHECK(stack_bytes(lookup_in({{"GOMP_STACKSIZE", "1M"}})) == std::size_t{1} << 20);
}

TEST_CASE("too many threads, and threads that cannot start, are reported") {
  for (auto const* name : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS", "OMP_STACKSIZE", "GOMP_STACKSIZE", "OMP_PLACES"})
    unsetenv(name);
  OpenMpLimits const limits{.most = 512, .threads = 2, .thread_limit = 1000, .places = 0};
  CHECK(faults_of_threads(std::nullopt).empty());
  CHECK(faults_of_threads(limits).empty());
  auto many = limits;
  many.threads = 513;
  CHECK(faults_of_threads(many) ==
        std::vector<std::string>{"OMP_NUM_THREADS: 513 threads for a rank, set by this variable or equal to "
                                 "the number of CPUs; allowed: 1 to 512; use more ranks instead"});
  setenv("KOKKOS_NUM_THREADS", "600", 1);
  CHECK(faults_of_threads(limits) ==
        std::vector<std::string>{
            "KOKKOS_NUM_THREADS: 600 threads for a rank; allowed: 1 to 512; use more ranks instead"});
  CHECK(faults_of_threads(std::nullopt).empty());  // without OpenMP, no threads are started
  setenv("KOKKOS_NUM_THREADS", "4", 1);
  auto few = limits;
  few.thread_limit = 3;
  CHECK(faults_of_threads(few) ==
        std::vector<std::string>{"KOKKOS_NUM_THREADS: 4 threads for a rank, but OMP_THREAD_LIMIT "
                                 "allows 3; raise or unset it"});
  unsetenv("KOKKOS_NUM_THREADS");
  CHECK(faults_of_threads(few).empty());  // nothing is requested: the limit decides
  for (auto const* value : {"4", " 4 , 2 "}) {
    setenv("OMP_NUM_THREADS", value, 1);
    CHECK(faults_of_threads(few) == std::vector<std::string>{"OMP_NUM_THREADS: 4 threads for a rank, but "
                                                             "OMP_THREAD_LIMIT allows 3; raise or unset it"});
    CHECK(faults_of_threads(limits).empty());
  }
  setenv("OMP_NUM_THREADS", "3,4", 1);
  CHECK(faults_of_threads(few).empty());
  unsetenv("OMP_NUM_THREADS");
  setenv("KOKKOS_NUM_THREADS", "4", 1);
  setenv("OMP_STACKSIZE", "100000G", 1);
  auto const starved = faults_of_threads(limits);
  REQUIRE(starved.size() == 1);
  CHECK(starved[0].starts_with(
      "KOKKOS_NUM_THREADS: 4 threads for a rank with 104857600000K of stack each cannot be started: "));
  setenv("OMP_STACKSIZE", "64K", 1);
  CHECK(faults_of_threads(limits) ==
        std::vector<std::string>{"OMP_STACKSIZE: '64K'; allowed: at least 256K; correct or unset "
                                 "this environment variable"});
  for (auto const* name : {"KOKKOS_NUM_THREADS", "OMP_STACKSIZE"}) unsetenv(name);
  setenv("OMP_PLACES", "{999}", 1);
  setenv("OMP_PROC_BIND", "true", 1);
  CHECK(faults_of_threads(limits).size() == 1);
  setenv("OMP_PROC_BIND", "false", 1);  // OpenMP then ignores places
  CHECK(faults_of_threads(limits).empty());
  unsetenv("OMP_PLACES");
  unsetenv("OMP_PROC_BIND");
}

TEST_CASE("Places that OpenMP replaced by others are reported") {
  for (auto const* name : {"KOKKOS_NUM_THREADS", "OMP_STACKSIZE", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) unsetenv(name);
  OpenMpLimits const limits{.most = 512, .threads = 2, .thread_limit = 1000, .places = 2, .cpus = {0, 1}};
  setenv("OMP_PROC_BIND", "true", 1);
  for (auto const* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
    auto const* const missing = name == std::string("OMP_PLACES") ? "{100}" : "100";
    setenv(name, missing, 1);
    CHECK(faults_of_threads(limits) ==
          std::vector{fault_of_variable(name, missing, "places that OpenMP finds on this machine")});
    setenv(name, name == std::string("OMP_PLACES") ? "{0},{1}" : "0-1", 1);
    CHECK(faults_of_threads(limits).empty());
    unsetenv(name);
  }
  setenv("OMP_PLACES", "cores", 1);
  setenv("GOMP_CPU_AFFINITY", "100", 1);  // ignored beside the other variable
  CHECK(faults_of_threads(limits).empty());
  for (auto const* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_PROC_BIND"}) unsetenv(name);
}

TEST_CASE("Places with a CPU that the machine lacks are reported") {
  for (auto const* name : {"KOKKOS_NUM_THREADS", "OMP_STACKSIZE", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"}) unsetenv(name);
  OpenMpLimits const limits{
      .most = 512, .threads = 2, .thread_limit = 1000, .places = 1, .cpus = {0, 1}, .online = {0, 1, 2}};
  setenv("OMP_PLACES", "{0,1,100}", 1);  // OpenMP binds threads to {0,1}
  CHECK(faults_of_threads(limits) ==
        std::vector{fault_of_variable("OMP_PLACES", "{0,1,100}", "CPUs of this machine, which has no CPU 100")});
  setenv("OMP_PLACES", "{0,1,2}", 1);  // a launcher may keep this process from a CPU
  CHECK(faults_of_threads(limits).empty());
  unsetenv("OMP_PLACES");
}

TEST_CASE("a Kokkos tool that cannot be loaded is reported") {
  setenv("KOKKOS_TOOLS_LIBS", "/none/tool.so;second", 1);
  auto const faults = faults_of_threads(std::nullopt);
  REQUIRE(faults.size() == 1);
  CHECK(
      faults[0].starts_with("KOKKOS_TOOLS_LIBS: '/none/tool.so;second'; allowed: a Kokkos tool that can be loaded "
                            "(/none/tool.so: cannot open"));
  unsetenv("KOKKOS_TOOLS_LIBS");
}
