// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/machine/host_memory.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <limits>

using bellwether::app::available_host_memory;

namespace {

void write(std::string const& path, std::string const& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

constexpr std::int64_t GiB = std::int64_t{1} << 30;
std::string const meminfo = "MemTotal:       33554432 kB\nMemFree:         1048576 kB\nMemAvailable:   16777216 kB\n";

}  // namespace

TEST_CASE("Without limits, a host has what its kernel reports as available") {
  TemporaryFolder const root;
  CHECK(available_host_memory(root.path()) == std::numeric_limits<std::int64_t>::max());
  write(root / "proc/meminfo", meminfo);
  write(root / "proc/self/cgroup", "0::/job/step\n");
  CHECK(available_host_memory(root.path()) == 16 * GiB);
  write(root / "sys/fs/cgroup/job/step/memory.max", "max\n");
  write(root / "sys/fs/cgroup/job/step/memory.current", "5\n");
  CHECK(available_host_memory(root.path()) == 16 * GiB);
}

TEST_CASE("The strictest control group limits a process's memory; page cache counts as available") {
  TemporaryFolder const root;
  write(root / "proc/meminfo", meminfo);
  write(root / "proc/self/cgroup", "0::/job/step\n");
  write(root / "sys/fs/cgroup/job/memory.max", std::to_string(8 * GiB) + "\n");
  write(root / "sys/fs/cgroup/job/memory.current", std::to_string(3 * GiB) + "\n");
  CHECK(available_host_memory(root.path()) == 5 * GiB);
  write(root / "sys/fs/cgroup/job/memory.stat", "active_file 7\ninactive_file " + std::to_string(2 * GiB) + "\n");
  CHECK(available_host_memory(root.path()) == 7 * GiB);
  write(root / "sys/fs/cgroup/job/step/memory.max", std::to_string(2 * GiB) + "\n");
  write(root / "sys/fs/cgroup/job/step/memory.current", std::to_string(3 * GiB) + "\n");
  CHECK(available_host_memory(root.path()) == 0);
}

TEST_CASE("Control groups of version 1 limit memory, too") {
  TemporaryFolder const root;
  write(root / "proc/meminfo", meminfo);
  write(root / "proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n");
  write(root / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(4 * GiB) + "\n");
  write(root / "sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(GiB) + "\n");
  CHECK(available_host_memory(root.path()) == 3 * GiB);
}
