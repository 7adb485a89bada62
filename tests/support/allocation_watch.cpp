// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/allocation_watch.hpp"

#include "core/system/error.hpp"

#include <Kokkos_Core.hpp>

#include <execinfo.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

// Globals, because operator new is global too.
namespace {

constexpr int kept = 8;
constexpr int depth = 24;

struct HostRecord {
  std::size_t size;
  int frames;
  std::array<void*, depth> stack;
};
struct ViewRecord {
  std::uint64_t size;
  std::array<char, 128> label;
};

std::atomic<bool> watched{false};
std::atomic<bool> armed{false};
std::atomic<std::int64_t> host_calls{0};
std::atomic<std::int64_t> host_bytes{0};
std::atomic<std::int64_t> label_calls{0};
std::atomic<std::int64_t> deletions{0};
std::atomic<std::int64_t> view_calls{0};
std::atomic<std::int64_t> view_bytes{0};
std::array<HostRecord, kept> host_records;
std::array<ViewRecord, kept> view_records;

thread_local bool excused = false;

bool counts() { return armed.load(std::memory_order_relaxed) && !excused; }

void count_host(std::size_t size) {
  if (!counts()) return;
  // Do not count or trace allocations of backtrace().
  thread_local bool inside = false;
  if (inside) return;
  if (size <= bellwether::test::longest_label) {
    ++label_calls;
    return;
  }
  inside = true;
  auto const index = host_calls.fetch_add(1);
  host_bytes += static_cast<std::int64_t>(size);
  if (index < kept) {
    auto& record = host_records[static_cast<std::size_t>(index)];
    record.size = size;
    record.frames = backtrace(record.stack.data(), depth);
  }
  inside = false;
}

void count_view(Kokkos::Tools::SpaceHandle, char const* label, void const*, std::uint64_t size) {
  if (!counts()) return;
  auto const index = view_calls.fetch_add(1);
  view_bytes += static_cast<std::int64_t>(size);
  if (index < kept) {
    auto& record = view_records[static_cast<std::size_t>(index)];
    record.size = size;
    std::strncpy(record.label.data(), label ? label : "", record.label.size() - 1);
  }
}

void release(void* memory) {
  if (memory && counts()) ++deletions;
  std::free(memory);
}

void* try_allocate(std::size_t size) noexcept {
  count_host(size);
  return std::malloc(size > 0 ? size : 1);
}

void* allocate(std::size_t size) {
  if (void* const memory = try_allocate(size)) return memory;
  throw std::bad_alloc();
}

void* allocate(std::size_t size, std::align_val_t alignment) {
  count_host(size);
  auto const unit = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// All forms are replaced: the standard library's nothrow forms call these, but a sanitizer's do not.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return try_allocate(size); }
void* operator new[](std::size_t size, std::nothrow_t const&) noexcept { return try_allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::nothrow_t const&) noexcept { release(memory); }
void operator delete[](void* memory, std::nothrow_t const&) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace bellwether::test {

void excuse_this_thread(bool yes) { excused = yes; }

AllocationWatch::AllocationWatch() {
  require(!watched.exchange(true), "one allocation watch at a time");
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_view);
  // The first call of backtrace() loads a library.
  std::array<void*, 2> frames;
  backtrace(frames.data(), 2);
}

AllocationWatch::~AllocationWatch() {
  armed = false;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  watched = false;
}

void AllocationWatch::arm() {
  host_calls = host_bytes = label_calls = deletions = view_calls = view_bytes = 0;
  view_records = {};
  armed = true;
}

Allocations AllocationWatch::disarm() {
  armed = false;
  Allocations seen;
  seen.host = host_calls;
  seen.host_bytes = host_bytes;
  seen.labels = label_calls;
  seen.retained = host_calls + label_calls - deletions;
  seen.views = view_calls;
  seen.view_bytes = view_bytes;
  for (std::size_t k = 0; k < kept && static_cast<std::int64_t>(k) < seen.views; ++k)
    seen.report +=
        "view " + std::string(view_records[k].label.data()) + ", " + std::to_string(view_records[k].size) + " bytes\n";
  for (std::size_t k = 0; k < kept && static_cast<std::int64_t>(k) < seen.host; ++k) {
    auto const& record = host_records[k];
    seen.report += "operator new, " + std::to_string(record.size) + " bytes\n";
    char** const names = backtrace_symbols(record.stack.data(), record.frames);
    for (int frame = 0; names && frame < record.frames; ++frame)
      seen.report += std::string("    ") + names[frame] + "\n";
    std::free(names);
  }
  return seen;
}

}  // namespace bellwether::test
