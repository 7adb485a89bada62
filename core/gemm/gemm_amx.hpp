// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_packing.hpp"

// A branch on the CPU, not on a space: this does not compile for other CPUs, and Linux is asked for the tiles by a
// system call. Sanitizers do not see what the assembler reads and writes.
#if defined(__AVX512BF16__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BELLWETHER_AMX 1
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// Products of bf16 on the matrix unit of Intel's CPUs (AMX). Its eight registers, the tiles of Intel's manual, hold 16
/// rows of 64 bytes. One instruction adds the product of two tiles to a third: 16 x 16 sums of 32 products each. It
/// sums even and odd k apart, so results round differently from those of the dot product instruction. They are the
/// same for any tiling, because k is always grouped from the start. Subnormal operands and results count as zero.
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

/// The matrix unit's tiles on this thread, configured for the lifetime of the object.
class MatrixUnit {
 public:
  static constexpr Index rows = 16;            ///< of a tile
  static constexpr Index group = 16;           ///< words of k that an instruction multiplies
  static constexpr Index tile = rows * 16;     ///< words of a tile
  static constexpr Index together = 2 * rows;  ///< rows of C that are formed at a time

  MatrixUnit() {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const eight_whole_tiles;
    asm volatile("ldtilecfg %0" ::"m"(eight_whole_tiles));
  }
  ~MatrixUnit() { asm volatile("tilerelease" ::: "memory"); }
  MatrixUnit(MatrixUnit const&) = delete;
  MatrixUnit& operator=(MatrixUnit const&) = delete;

  template <int number>
  static void load(void const* from, Index row_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes), "i"(number) : "memory");
  }
  template <int number>
  static void store(void* to, Index row_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes), "i"(number) : "memory");
  }
  template <int number>
  static void clear() {
    asm volatile("tilezero %%tmm%c0" ::"i"(number));
  }
  template <int sum, int a, int b>
  static void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
  }
};

/// Words for the unit, and how a product is cut for it. A packed strip of B has all of k, or `most_k` of it. The unit
/// reads one panel of the strip at a time, which stays in the L1 cache. A packed block of A has one pass of k and stays
/// in the L2 cache. If k has several passes, the sums of the block are kept there, too.
struct AmxWords : PairWords {
  static constexpr Index group = MatrixUnit::group;
  static constexpr Index pass_words = 256, pass = pass_words * depth;  ///< elements of k
  static constexpr Index rows = 256, columns = 1024;  ///< of a block of A, at most; of a strip of B, at most
  static constexpr Index strip_words = 1 << 20;
  static constexpr Index fetched = 4;  ///< cache lines of the next panel that are fetched with each group of k
  static constexpr Index most_k = strip_words / 256 * depth;

  /// Returns the groups of words in `k` elements.
  static Index groups(Index k) { return (k + group * depth - 1) / (group * depth); }
};

/// Packs `rows` rows and k columns of op(A) by tiles of 16 rows and 16 words of k. Tiles of the same rows follow each
/// other in the order of k. Rows beyond the operand keep what the block held.
/// row_sums: null, or (rows); adds the row sums of a transposed A.
template <class Element>
void pack_tiles(Operand<Element> const& a, Index rows, Index k, float* row_sums, std::uint32_t* block) {
  constexpr Index depth = AmxWords::depth;
  Index const words = (k + depth - 1) / depth, groups = AmxWords::groups(k);
  auto const tile = [&](Index i, Index g) { return block + (i / MatrixUnit::rows * groups + g) * MatrixUnit::tile; };
  if (a.op == Op::none) {
    for (Index i = 0; i < rows; ++i)
      for (Index g = 0; g < groups; ++g) {
        Index const at = g * MatrixUnit::group * depth;
        store(AmxWords::along(a.element(i, at), k - at), tile(i, g) + i % MatrixUnit::rows * lanes);
      }
    return;
  }
  alignas(64) float sums[AmxWords::rows] = {};
  for (Index g = 0; g < groups; ++g)
    for (Index i = 0; i < rows; i += MatrixUnit::rows) {
      Bits square[lanes] = {};
      auto sum = load<Floats>(sums + i);
      for (Index q = 0; q < std::min<Index>(lanes, words - g * MatrixUnit::group); ++q) {
        Index const at = (g * MatrixUnit::group + q) * depth;
        square[q] = AmxWords::across(a.element(i, at), a.ld, k - at, rows - i);
        sum += AmxWords::sums(square[q]);
      }
      store(sum, sums + i);
      transpose(square);
      for (Index r = 0; r < lanes; ++r) store(square[r], tile(i, g) + r * lanes);
    }
  if (row_sums != nullptr)
    for (Index i = 0; i < rows; ++i) row_sums[i] += sums[i];
}

/// Packs k rows and `columns` columns of op(B) as panels, each (words of k in whole groups, 32 columns).
template <class Element>
void pack_strip(Operand<Element> const& b, Index k, Index columns, std::uint32_t* strip) {
  constexpr Index depth = AmxWords::depth;
  Index const words = (k + depth - 1) / depth, panel = AmxWords::groups(k) * AmxWords::group * tile_columns;
  if (b.op == Op::transpose) {
    for (Index j = 0; j < columns; j += tile_columns)
      pack_panel<AmxWords>(b.from(0, j), k, columns - j, strip + j / tile_columns * panel);
    return;
  }
  for (Index p = 0; p * tile_columns < panel; ++p)
    for (Index j = 0; j < columns; j += lanes) {
      Bits const row = p < words ? AmxWords::across(b.element(p * depth, j), b.ld, k - p * depth, columns - j) : Bits{};
      store(row, strip + j / tile_columns * panel + p * tile_columns + j % tile_columns);
    }
  if (columns % tile_columns > 0 && columns % tile_columns <= lanes)
    for (Index p = 0; p * tile_columns < panel; ++p)
      store(Bits{}, strip + columns / tile_columns * panel + p * tile_columns + lanes);
}

/// Computes to = from + two rows of tiles times a panel, for `groups` groups of k. Without `two`, only the first row
/// exists.
///
/// to: (32, 32). from: (32, 32), or null for zeros. ahead: memory of the next panel; each group prefetches a part of
/// it.
template <bool two>
void multiply_tiles(Index groups, std::uint32_t const* tiles, std::uint32_t const* panel, float const* from, float* to,
                    std::uint32_t const* ahead) {
  using Unit = MatrixUnit;
  constexpr Index row_bytes = tile_columns * 4, below = Unit::rows * tile_columns;
  if (from == nullptr) {
    Unit::clear<0>();
    Unit::clear<1>();
    if (two) Unit::clear<2>();
    if (two) Unit::clear<3>();
  } else {
    Unit::load<0>(from, row_bytes);
    Unit::load<1>(from + lanes, row_bytes);
    if (two) Unit::load<2>(from + below, row_bytes);
    if (two) Unit::load<3>(from + below + lanes, row_bytes);
  }
  for (Index g = 0; g < groups; ++g) {
    std::uint32_t const* const b = panel + g * Unit::group * tile_columns;
    for (Index line = 0; line < AmxWords::fetched; ++line)
      __builtin_prefetch(ahead + (g * AmxWords::fetched + line) * lanes, 0, 2);
    Unit::load<4>(b, row_bytes);
    Unit::load<6>(tiles + g * Unit::tile, 64);
    Unit::multiply_add<0, 6, 4>();
    Unit::load<5>(b + lanes, row_bytes);
    Unit::multiply_add<1, 6, 5>();
    if (two) Unit::load<7>(tiles + (groups + g) * Unit::tile, 64);
    if (two) Unit::multiply_add<2, 7, 4>();
    if (two) Unit::multiply_add<3, 7, 5>();
  }
  Unit::store<0>(to, row_bytes);
  Unit::store<1>(to + lanes, row_bytes);
  if (two) Unit::store<2>(to + below, row_bytes);
  if (two) Unit::store<3>(to + below + lanes, row_bytes);
}

/// A product of a packed block of A, for one pass of k, and a packed strip of B.
struct BlockOfTiles {
  std::uint32_t const* tiles;  ///< rows of tiles of the block
  std::uint32_t const* strip;  ///< this pass of the first panel
  Index panel;                 ///< words between panels
  Index rows, columns, groups;
  float* sums;  ///< of all passes, by panels: (columns / 32, AmxWords::rows, 32)
  bool begins, ends;

  /// Calls write(i, j, rows, sums) for each 32 x 32 part of C at (i, j) if this pass ends the sums.
  template <class Write>
  void multiply(Write const& write) const {
    alignas(64) float last[MatrixUnit::together * tile_columns];
    for (Index j = 0; j < columns; j += tile_columns)
      for (Index i = 0; i < rows; i += MatrixUnit::together) {
        auto const* const b = strip + j / tile_columns * panel;
        auto const* const ahead = b + panel + i / MatrixUnit::together * groups * AmxWords::fetched * lanes;
        float* const kept = sums + j * AmxWords::rows + i * tile_columns;
        auto const form = rows - i > MatrixUnit::rows ? multiply_tiles<true> : multiply_tiles<false>;
        form(groups, tiles + i / MatrixUnit::rows * groups * MatrixUnit::tile, b, begins ? nullptr : kept,
             ends ? last : kept, ahead);
        if (ends) write(i, j, std::min(MatrixUnit::together, rows - i), last);
      }
  }
};

/// Returns the columns of a strip of B, for n > 0: strips have equal widths and fit the buffer.
inline Index strip_columns(Index n, Index k) {
  Index const words = std::max<Index>(1, AmxWords::groups(std::min(k, AmxWords::most_k))) * AmxWords::group;
  Index const most = std::min(AmxWords::columns, AmxWords::strip_words / words / tile_columns * tile_columns);
  Index const strips = (n + most - 1) / most, panels = ((n + strips - 1) / strips + tile_columns - 1) / tile_columns;
  return panels * tile_columns;
}

/// C (m, n) = alpha op(A) op(B) + beta C. C: float or bf16.
/// row_sums: null, or (m); adds the row sums of a transposed A.
template <class A, class B, class C>
void multiply_by_matrix_unit(Operand<A> const& a, Operand<B> const& b, GemmExtents const& extents, Matrix<C> const& c,
                             Scaling<float> const& scaling, float* row_sums) {
  Index const m = extents.m, n = extents.n, k = extents.k;
  constexpr Index most = AmxWords::most_k, depth = AmxWords::depth;
  [[maybe_unused]] MatrixUnit const unit;
  auto* const strip = own_words<Part::strip, std::uint32_t>(AmxWords::strip_words);
  auto* const block = own_words<Part::tiles, std::uint32_t>(AmxWords::rows * AmxWords::pass_words);
  auto* const sums = own_words<Part::tile_sums, float>(AmxWords::rows * AmxWords::columns);
  if (n == 0) return;
  Index const width = strip_columns(n, k);
  for (Index j0 = 0; j0 < n; j0 += width)
    for (Index i0 = 0; i0 < m; i0 += AmxWords::rows)
      for (Index k0 = 0; k0 < std::max<Index>(k, 1); k0 += AmxWords::pass) {
        Index const rows = std::min(AmxWords::rows, m - i0), columns = std::min(width, n - j0);
        Index const length = std::min(AmxWords::pass, k - k0), passed = k0 % most;
        Index const of_strip = std::min(most, k - (k0 - passed));
        if (passed == 0 && (i0 == 0 || k > most)) pack_strip(b.from(k0, j0), of_strip, columns, strip);
        pack_tiles(a.from(i0, k0), rows, length, j0 == 0 && row_sums != nullptr ? row_sums + i0 : nullptr, block);
        BlockOfTiles const product{.tiles = block,
                                   .strip = strip + passed / depth * tile_columns,
                                   .panel = AmxWords::groups(of_strip) * AmxWords::group * tile_columns,
                                   .rows = rows,
                                   .columns = columns,
                                   .groups = AmxWords::groups(length),
                                   .sums = sums,
                                   .begins = k0 == 0,
                                   .ends = k0 + length >= k};
        product.multiply([&](Index i, Index j, Index count, float const* from) {
          Target const target{c.ld, columns - j, scaling.alpha, scaling.beta};
          for (Index r = 0; r < count; ++r)
            finish_row(load<Floats>(from + r * tile_columns), load<Floats>(from + r * tile_columns + lanes), target,
                       c.at + (i0 + i + r) * c.ld + j0 + j);
        });
      }
}

#endif

}  // namespace bellwether::product
