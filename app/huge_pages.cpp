// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of the program on huge pages. Kokkos takes the memory of views on the host from operator new with an
// alignment; here large pieces of it begin on a boundary of 2 MiB, and the system is asked for huge pages behind them.
// Where it gives them to those who ask (Linux: transparent_hugepage/enabled is madvise, as Debian ships it), vectors
// that no cache holds are faster to read, to write and to touch for the first time, also for an MPI that copies from
// process to process. Where it gives them never this changes nothing.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Null where there is none.
void* memory_of(std::size_t size, std::size_t alignment) {
  bool const large = size >= 2 * huge_page;
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max({alignment, sizeof(void*), large ? huge_page : 0}), size) != 0) return nullptr;
  if (large) ::madvise(memory, size, MADV_HUGEPAGE);  // refused: pages as small as they were
  return memory;
}

}  // namespace

// All forms for one object, not those alone that the others call by default: a sanitizer has others of its own.
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
