// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bellwether::model {

/// Allocates several buffers in one piece of memory: call want() for every buffer, then allocate() once. Buffers start
/// at multiples of 64 bytes. allocate() sets the pointers, which stay valid.
class Workspace {
 public:
  template <class T>
  void want(T*& slot, Index count) {
    wanted_.push_back({[&slot](std::byte* at) { slot = reinterpret_cast<T*>(at); }, bytes_});
    bytes_ += (count * static_cast<Index>(sizeof(T)) + alignment - 1) / alignment * alignment;
  }
  void allocate(std::string const& label) {
    memory_ = Kokkos::View<std::byte*, Mem>(label, static_cast<std::size_t>(bytes_ + alignment));
    auto const start = reinterpret_cast<std::uintptr_t>(memory_.data());
    std::byte* const first = memory_.data() + (alignment - start % alignment) % alignment;
    for (auto const& buffer : wanted_) buffer.assign(first + buffer.offset);
    wanted_.clear();
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  static constexpr Index alignment = 64;
  struct Wanted {
    std::function<void(std::byte*)> assign;
    Index offset;
  };
  std::vector<Wanted> wanted_;
  Index bytes_ = 0;
  Kokkos::View<std::byte*, Mem> memory_;
};

}  // namespace bellwether::model
