// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/pack.hpp"
#include "core/system/error.hpp"

/// Access to the elements of a run in kernels such as team_for_runs(): Read, Change (read and write) or Write, each
/// indexed by lane. A null pointer is never dereferenced.
namespace bellwether {

/// Accesses the elements in memory.
struct InMemory {
  using Read = float const*;
  using Change = float*;
  using Write = float*;
};

/// Keeps four elements in registers: one load each before anything is computed, one store when the run ends. The first
/// element must be aligned for a pack.
struct InRegisters {
  static constexpr int count = widest_pack<float>;

  class Read {
   public:
    KOKKOS_INLINE_FUNCTION Read(float const* from) {
      if (from != nullptr) load(from, values_);
    }
    Read(Read const&) = delete;
    Read& operator=(Read const&) = delete;
    KOKKOS_INLINE_FUNCTION float operator[](int lane) const { return values_[lane]; }

   private:
    float values_[count];
  };

  template <bool reads>
  class Written {
   public:
    KOKKOS_INLINE_FUNCTION Written(float* at) : at_(at) {
      if (reads && at != nullptr) load(static_cast<float const*>(at), values_);
    }
    Written(Written const&) = delete;
    Written& operator=(Written const&) = delete;
    KOKKOS_INLINE_FUNCTION ~Written() {
      if (at_ != nullptr) store(at_, values_);
    }
    KOKKOS_INLINE_FUNCTION float& operator[](int lane) const { return values_[lane]; }

   private:
    float* at_;
    mutable float values_[count];  // like a pointer's target: a const run may write them
  };
  using Change = Written<true>;
  using Write = Written<false>;
};

/// Checks that all pointers are aligned for reading four elements, in spaces that do so. \throws InternalError
template <class Space, class... T>
void require_neighbours(T const*... at) {
  if constexpr (has_packs<float, Space>)
    require(begin_packs<InRegisters::count>(at...), "a vector is not aligned to 16 bytes");
}

}  // namespace bellwether
