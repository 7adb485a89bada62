// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/pack.hpp"
#include "core/system/error.hpp"

/// How a run of a kernel, team_for_runs() and its like, has its neighbours of a vector: Read of what it reads alone,
/// Change of what it reads and writes, Write of what it writes alone, each with [lane]. Null ones are not touched.
namespace bellwether {

/// Where they lie.
struct InMemory {
  using Read = float const*;
  using Change = float*;
  using Write = float*;
};

/// Four of them in registers: all that is read was asked for by one access each before anything is computed, and what
/// is written goes by one access when the run ends. The first lies where a pack may begin.
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
    mutable float values_[count];  // as those behind a pointer: a run that is const may write them
  };
  using Change = Written<true>;
  using Write = Written<false>;
};

/// InternalError unless all of these begin where four neighbours may be read at once, in spaces where threads do so.
template <class Space, class... T>
void require_neighbours(T const*... at) {
  if constexpr (has_packs<float, Space>)
    require(begin_packs<InRegisters::count>(at...), "a vector does not begin at a multiple of 16 bytes");
}

}  // namespace bellwether
