// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_packing.hpp"

#if defined(__AVX512BF16__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BELLWETHER_AMX 1
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// Products of bf16 on Intel's matrix unit (AMX). Its registers, called tiles here as in Intel's manual, hold 16 rows
/// of 64 bytes. One instruction adds the product of two tiles to a third: 16 x 16 sums of 32 products each. Sums over
/// even and over odd k are formed apart and then added, so results differ in rounding from those of the dot product
/// instruction. They are the same for any tiling of the product, because words of k are always grouped from the start.
/// Subnormal operands and results count as zero.
namespace bellwether::product {

/// Returns true if this CPU has the unit and the system lets this process use it. The first call asks the system.
inline bool has_matrix_unit() {
#if defined(BELLWETHER_AMX)
  static bool const has = [] {
    constexpr unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    constexpr long request_permission = 0x1023, tile_data = 18;  // arch_prctl(2), "Dynamic XSTATE features"
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx_bf16) == 0 || (d & amx_tile) == 0) return false;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return has;
#else
  return false;
#endif
}

#if defined(BELLWETHER_AMX)

/// Words of the dot product instruction, packed for the matrix unit.
struct AmxWords : PairWords {
  static constexpr bool matrix_unit = true;
  static constexpr Index group = 16;       ///< words of k that one instruction multiplies
  static constexpr bool rows_of_k = true;  ///< each packed row of A has its words of k side by side
  static constexpr Index tile_rows = 32;   ///< rows of C formed at a time

  /// Configures this thread's tiles for its lifetime.
  class Unit {
   public:
    Unit() {
      struct alignas(64) {
        std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
        std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
      } const eight_whole_tiles;
      asm volatile("ldtilecfg %0" ::"m"(eight_whole_tiles));
    }
    ~Unit() { asm volatile("tilerelease" ::: "memory"); }
    Unit(Unit const&) = delete;
    Unit& operator=(Unit const&) = delete;
  };
};

#define BELLWETHER_TILE_LOAD(tile, from, stride) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(from), "r"(stride) : "memory")
#define BELLWETHER_TILE_STORE(tile, to, stride) \
  asm volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"(stride) : "memory")
#define BELLWETHER_TILE_MULTIPLY(sum, a, b) asm volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sum ::)
#define BELLWETHER_TILE_ZERO(tile) asm volatile("tilezero %%tmm" #tile ::)

/// sums (32, 32) = a (32, words) panel (words, 32), with the configured tiles. `two`: rows 16 to 31 exist, too.
template <bool two>
void multiply_tiles(Index words, Block<std::uint32_t> const& a, std::uint32_t const* panel, float* sums) {
  constexpr Index panel_stride = tile_columns * 4, sums_stride = tile_columns * 4;
  Index const stride = a.row * 4;
  BELLWETHER_TILE_ZERO(0);
  BELLWETHER_TILE_ZERO(1);
  if constexpr (two) {
    BELLWETHER_TILE_ZERO(2);
    BELLWETHER_TILE_ZERO(3);
  }
  for (Index p = 0; p < words; p += AmxWords::group) {
    BELLWETHER_TILE_LOAD(6, a.at + p, stride);
    BELLWETHER_TILE_LOAD(4, panel + p * tile_columns, panel_stride);
    BELLWETHER_TILE_MULTIPLY(0, 6, 4);
    BELLWETHER_TILE_LOAD(5, panel + p * tile_columns + lanes, panel_stride);
    BELLWETHER_TILE_MULTIPLY(1, 6, 5);
    if constexpr (two) {
      BELLWETHER_TILE_LOAD(7, a.at + 16 * a.row + p, stride);
      BELLWETHER_TILE_MULTIPLY(2, 7, 4);
      BELLWETHER_TILE_MULTIPLY(3, 7, 5);
    }
  }
  BELLWETHER_TILE_STORE(0, sums, sums_stride);
  BELLWETHER_TILE_STORE(1, sums + lanes, sums_stride);
  if constexpr (two) {
    BELLWETHER_TILE_STORE(2, sums + 16 * tile_columns, sums_stride);
    BELLWETHER_TILE_STORE(3, sums + 16 * tile_columns + lanes, sums_stride);
  }
}

#undef BELLWETHER_TILE_LOAD
#undef BELLWETHER_TILE_STORE
#undef BELLWETHER_TILE_MULTIPLY
#undef BELLWETHER_TILE_ZERO

#endif

}  // namespace bellwether::product
