// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/blas_memory.hpp"

#include "core/system/system_limits.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

// OpenBLAS exports these two functions but declares them in no installed header.
extern "C" {
[[gnu::weak]] void* blas_memory_alloc(int position);
[[gnu::weak]] void blas_memory_free(void* buffer);
}

namespace bellwether {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
/// Size of one buffer (BUFFER_SIZE is 32 << 22 on x86-64) plus a margin for other allocations.
constexpr std::size_t buffer_room = 136 * mebibyte;
/// OpenBLAS has a table of at least this many buffers and ends the program when it is full.
constexpr int most_buffers = 128;

/// Returns true if the system would currently grant a buffer.
bool has_room() {
  void* const room = mmap(nullptr, buffer_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, buffer_room);
  return true;
}

}  // namespace

std::string reserve_blas_memory(int threads) {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return "";
  std::vector<void*> buffers;
  int const wanted = std::min(threads, most_buffers) + 1;  // openblas_set_num_threads() takes one for itself
  while (static_cast<int>(buffers.size()) < wanted && has_room()) buffers.push_back(blas_memory_alloc(0));
  bool const complete = static_cast<int>(buffers.size()) == wanted;
  for (void* const buffer : buffers) blas_memory_free(buffer);  // OpenBLAS keeps the memory for its products
  if (complete) return "";
  return "not enough memory for OpenBLAS, which needs " + std::to_string(buffer_room / mebibyte) +
         " MiB of address space for each of " + std::to_string(threads) + " threads; limits here: " + memory_limits() +
         "; raise one, or use fewer threads or ranks";
}

}  // namespace bellwether
