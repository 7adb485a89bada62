// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::test {

/// Kokkos takes the labels of kernels and fences as strings, so every launch with a name of more than 15 letters calls
/// operator new. What is no longer than this many bytes is therefore counted apart, as `labels`.
inline constexpr std::int64_t longest_label = 128;

/// What was allocated while a watch was armed.
struct Allocations {
  std::int64_t host = 0;  ///< calls of operator new for more than a label, on any thread
  std::int64_t host_bytes = 0;
  std::int64_t labels = 0;    ///< calls for at most longest_label bytes
  std::int64_t retained = 0;  ///< calls of operator new less calls of operator delete
  std::int64_t views = 0;     ///< allocations of Kokkos memory
  std::int64_t view_bytes = 0;
  std::string report;  ///< the first few: labels of views, call stacks of operator new
  /// Nothing but labels, and these are gone again.
  bool none() const { return host == 0 && views == 0 && retained <= 0; }
};

/// Counts allocations between arm() and disarm(). Two eyes: a replaced operator new, and Kokkos Tools' callback, since
/// Kokkos takes the memory of views from elsewhere. Link bellwether_allocation_watch into the test. One watch at a
/// time; construct it after Kokkos starts. What C libraries take by malloc is not seen.
class AllocationWatch {
 public:
  AllocationWatch();
  ~AllocationWatch();
  AllocationWatch(AllocationWatch const&) = delete;
  AllocationWatch& operator=(AllocationWatch const&) = delete;
  void arm();
  Allocations disarm();
};

/// While yes, what the calling thread allocates and frees is not counted. For a part of a program that may allocate by
/// design: a test that uses it says which part and why.
void excuse_this_thread(bool yes);

}  // namespace bellwether::test
