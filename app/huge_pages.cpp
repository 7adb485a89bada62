// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Allocates large blocks on huge pages. Kokkos allocates host views with the aligned operator new. Here, large blocks
// are aligned to 2 MiB, and the system is asked for huge pages. Linux grants them on request if
// transparent_hugepage/enabled is madvise, the default of Debian. Vectors larger than the caches are then faster to
// read, write and touch for the first time. This also helps MPI libraries that copy between processes. If the setting
// is never, this has no effect.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Returns null if there is no memory.
void* memory_of(std::size_t size, std::size_t alignment) {
  bool const large = size >= 2 * huge_page;
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max({alignment, sizeof(void*), large ? huge_page : 0}), size) != 0) return nullptr;
  if (large) ::madvise(memory, size, MADV_HUGEPAGE);  // if refused, normal pages are used
  return memory;
}

}  // namespace

// Replaces all forms for single objects, because sanitizers provide their own for the forms that usually call these.
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* const memory = memory_of(size, static_cast<std::size_t>(alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return memory_of(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, std::nothrow_t const&) noexcept { std::free(memory); }
