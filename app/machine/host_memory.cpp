// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/machine/host_memory.hpp"

#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// Returns the number in a file; nothing if the file contains `max` or cannot be read.
std::optional<std::int64_t> number_in(fs::path const& path) {
  std::int64_t value = 0;
  if (std::ifstream file(path); file >> value) return value;
  return std::nullopt;
}

/// Returns the number after a word at the beginning of a line.
std::optional<std::int64_t> number_after(fs::path const& path, std::string const& wanted) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::int64_t value = 0;
    if (word == wanted && file >> value) return value;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

struct GroupFiles {
  char const *limit, *used, *cache;
};

/// Returns the memory that a control group and its parents leave. Cached pages of files can be reclaimed and do not
/// count.
std::int64_t left_in(fs::path const& mount, fs::path group, GroupFiles const& names) {
  std::int64_t left = unbounded;
  for (group = group.relative_path();; group = group.parent_path()) {
    auto const folder = mount / group;
    auto const limit = number_in(folder / names.limit), used = number_in(folder / names.used);
    if (limit && used) {
      auto const cache = number_after(folder / "memory.stat", names.cache).value_or(0);
      left = std::min(left, std::max<std::int64_t>(0, *limit - *used + cache));
    }
    if (group.empty()) return left;
  }
}

}  // namespace

std::int64_t available_host_memory(std::string const& root) {
  std::int64_t available = unbounded;
  if (auto const kibibytes = number_after(root + "/proc/meminfo", "MemAvailable:")) available = *kibibytes * 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    auto const path = line.substr(line.rfind(':') + 1);
    fs::path const mount = root + "/sys/fs/cgroup";
    if (line.starts_with("0::"))
      available = std::min(
          available, left_in(mount, path, {.limit = "memory.max", .used = "memory.current", .cache = "inactive_file"}));
    else if (line.find(":memory:") != std::string::npos)
      available = std::min(
          available,
          left_in(mount / "memory", path,
                  {.limit = "memory.limit_in_bytes", .used = "memory.usage_in_bytes", .cache = "total_inactive_file"}));
  }
  return available;
}

void require_host_memory(comm::World& world, std::int64_t parameters, std::int64_t workspace_bytes) {
  together(world.group(), [&] {
    // Lower bound: parameters, gradients, momentum and variance.
    auto const need = 4 * static_cast<std::int64_t>(sizeof(float)) * parameters + workspace_bytes;
    auto const ranks = world.nodes().ranks_here;
    auto const available = available_host_memory();
    if (need <= available / ranks) return;
    throw InputError("batch.micro: a rank needs " + bytes_text(need) + " or more, " + bytes_text(workspace_bytes) +
                     " of it for activations; " + world.host() + " has " + bytes_text(available) + " for " +
                     counted(ranks, "rank") + "; reduce batch.micro, the model or the number of ranks per host");
  });
}

}  // namespace bellwether::app
