// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::test {

/// Kokkos takes the labels of kernels and fences as strings, so every launch with a name of more than 15 letters calls
/// operator new. Allocations of at most this many bytes are therefore counted separately, as `labels`.
inline constexpr std::int64_t longest_label = 128;

/// What was allocated while a watch was armed.
struct Allocations {
  std::int64_t host = 0;  ///< calls of operator new for more than a label, on any thread
  std::int64_t host_bytes = 0;
  std::int64_t labels = 0;    ///< calls for at most longest_label bytes
  std::int64_t retained = 0;  ///< calls of operator new minus calls of operator delete
  std::int64_t views = 0;     ///< allocations of Kokkos memory
  std::int64_t view_bytes = 0;
  std::string report;  ///< the first allocations: labels of views, call stacks of operator new
  /// Returns true if only labels were allocated and they were freed again.
  bool none() const { return host == 0 && views == 0 && retained <= 0; }
};

/// Counts allocations between arm() and disarm(). It replaces operator new and uses a callback of Kokkos Tools, because
/// Kokkos allocates the memory of views without operator new. Link bellwether_allocation_watch into the test. Only one
/// watch may exist; construct it after Kokkos starts. Allocations by malloc() in C libraries are not seen.
class AllocationWatch {
 public:
  AllocationWatch();
  ~AllocationWatch();
  AllocationWatch(AllocationWatch const&) = delete;
  AllocationWatch& operator=(AllocationWatch const&) = delete;
  void arm();
  Allocations disarm();
};

/// While true, allocations and frees of the calling thread are not counted. For code that may allocate by design. A
/// test that uses this must say which code and why.
void excuse_this_thread(bool yes);

}  // namespace bellwether::test
