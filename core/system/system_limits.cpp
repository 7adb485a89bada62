// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/system_limits.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

namespace bellwether {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kibibyte = 1024;

/// Returns the number in a file; none if the file says `max` or is unreadable.
std::optional<std::uint64_t> number_in(fs::path const& path) {
  std::uint64_t value = 0;
  if (std::ifstream file(path); file >> value) return value;
  return std::nullopt;
}

struct GroupLimit {
  std::string group;
  std::uint64_t limit = 0, used = 0;
};

/// Returns the tightest limit of the process's control group and its ancestors: the one with the least left. `names`:
/// files of the limit and the usage, for version 2 and version 1 of control groups.
std::optional<GroupLimit> tightest_group(std::string const& root, std::string const& controller,
                                         std::vector<std::pair<char const*, char const*>> const& names) {
  std::optional<GroupLimit> tightest;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    bool const second = line.starts_with("0::");
    if (!second && line.find(":" + controller + ":") == std::string::npos) continue;
    auto const& [limit_file, used_file] = names[second ? 0 : 1];
    fs::path const mount = fs::path(root + "/sys/fs/cgroup") / (second ? "" : controller);
    for (auto group = fs::path(line.substr(line.rfind(':') + 1)).relative_path();; group = group.parent_path()) {
      auto const limit = number_in(mount / group / limit_file), used = number_in(mount / group / used_file);
      constexpr std::uint64_t none = std::uint64_t{1} << 60;  // version 1 reports a larger value if unlimited
      auto const left = [](std::uint64_t of, std::uint64_t taken) { return of > taken ? of - taken : 0; };
      if (limit && used && *limit < none && (!tightest || left(*limit, *used) < left(tightest->limit, tightest->used)))
        tightest = {"/" + group.string(), *limit, *used};
      if (group.empty()) break;
    }
  }
  return tightest;
}

/// Returns the soft limit of this process; none if unlimited.
std::optional<std::uint64_t> resource_limit(int which) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(which), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

void add(std::string& text, std::string const& more) { text += (text.empty() ? "" : "; ") + more; }

std::string kibibytes(std::uint64_t bytes) {
  return std::to_string(bytes / kibibyte) + " KiB (" + std::to_string(bytes / kibibyte / kibibyte) + " MiB)";
}

void add_address_space(std::string& text) {
  if (auto const bytes = resource_limit(RLIMIT_AS)) add(text, "`ulimit -v` " + kibibytes(*bytes));
}

}  // namespace

std::string thread_limits(std::string const& root) {
  std::string text;
  if (auto const most = resource_limit(RLIMIT_NPROC))
    add(text, "`ulimit -u` " + std::to_string(*most) + " processes and threads of this user");
  if (auto const group = tightest_group(root, "pids", {{"pids.max", "pids.current"}, {"pids.max", "pids.current"}}))
    add(text, "pids.max " + std::to_string(group->limit) + " of the control group " + group->group + ", " +
                  std::to_string(group->used) + " in use");
  add_address_space(text);
  if (auto const most = number_in(root + "/proc/sys/kernel/threads-max"); most && text.empty())
    add(text, "kernel.threads-max " + std::to_string(*most));
  return text.empty() ? "unknown" : text;
}

std::string memory_limits(std::string const& root) {
  std::string text;
  add_address_space(text);
  if (auto const bytes = resource_limit(RLIMIT_DATA)) add(text, "`ulimit -d` " + kibibytes(*bytes));
  if (auto const group = tightest_group(
          root, "memory", {{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}}))
    add(text, "memory.max " + kibibytes(group->limit) + " of the control group " + group->group + ", " +
                  kibibytes(group->used) + " in use");
  std::ifstream file(root + "/proc/meminfo");
  for (std::string word; file >> word;)
    if (std::uint64_t available = 0; word == "MemAvailable:" && file >> available)
      add(text, kibibytes(available * kibibyte) + " available on this machine");
  return text.empty() ? "unknown" : text;
}

std::string file_limits(std::string const& root) {
  std::string text;
  if (auto const most = resource_limit(RLIMIT_NOFILE))
    add(text, "`ulimit -n` " + std::to_string(*most) + " open files of this process");
  if (auto const most = number_in(root + "/proc/sys/fs/file-max"); most && text.empty())
    add(text, "fs.file-max " + std::to_string(*most) + " open files of this machine");
  return text.empty() ? "unknown" : text;
}

bool tells_too_many_files(std::string_view text) {
  for (int const error : {EMFILE, ENFILE})
    if (text.find(std::generic_category().message(error)) != std::string_view::npos) return true;
  return false;
}

std::string out_of_memory() {
  return "not enough memory; limits here: " + memory_limits() +
         "; raise one, or use fewer threads or ranks, a smaller batch.micro or model";
}

bool memory_is_short() {
  constexpr std::size_t little = std::size_t{8} << 20;
  void* const room = mmap(nullptr, little, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return true;
  munmap(room, little);
  return false;
}

std::string what_of(std::exception const& error) {
  if (dynamic_cast<std::bad_alloc const*>(&error) != nullptr) return out_of_memory();
  std::string const text = error.what();
  // An error that was caught and thrown again has its limits already.
  if (tells_too_many_files(text) && text.find("; limits here: ") == std::string::npos)
    return text + "; limits here: " + file_limits() + "; raise one";
  return text.find("failed to allocate") == std::string::npos ? text : text + "; " + out_of_memory();
}

std::string no_thread(std::string_view purpose, std::string_view reason) {
  return "no thread to " + std::string(purpose) + ": " + std::string(reason) + "; limits here: " + thread_limits() +
         "; raise one, or use fewer threads (--threads, OMP_NUM_THREADS) or ranks";
}

struct ThreadProbe::Impl {
  std::mutex mutex;
  std::condition_variable wake;
  bool over = false;
  std::vector<std::thread> threads;
};

ThreadProbe::ThreadProbe(int count) : impl_(new Impl) {
  try {
    for (int i = 0; i < count; ++i)
      impl_->threads.emplace_back([impl = impl_] {
        std::unique_lock lock(impl->mutex);
        impl->wake.wait(lock, [impl] { return impl->over; });
      });
  } catch (std::exception const& error) {
    auto const* const system = dynamic_cast<std::system_error const*>(&error);
    reason_ = system != nullptr ? system->code().message() : error.what();
  }
}

ThreadProbe::~ThreadProbe() {
  {
    std::lock_guard const lock(impl_->mutex);
    impl_->over = true;
  }
  impl_->wake.notify_all();
  for (auto& thread : impl_->threads) thread.join();
  delete impl_;
}

}  // namespace bellwether
