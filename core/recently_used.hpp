// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace bellwether {

/// A cache of at most `capacity` values by key, with least-recently-used replacement. Allocates nothing.
template <class Key, class Value, int capacity>
class RecentlyUsed {
 public:
  /// Returns the value of `key`. If it is missing, make() replaces the least recently used value. Valid until the next
  /// call.
  template <class Make>
  Value const& get(Key const& key, Make const& make) {
    Slot* oldest = &slots_[0];
    for (Slot& slot : slots_) {
      if (slot.used != 0 && slot.key == key) {
        slot.used = ++calls_;
        return slot.value;
      }
      if (slot.used < oldest->used) oldest = &slot;
    }
    Value const made = make();  // may throw; nothing has changed yet
    *oldest = {key, made, ++calls_};
    return oldest->value;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    std::uint64_t used = 0;  ///< number of the call that last used it; 0: empty
  };
  std::array<Slot, capacity> slots_{};
  std::uint64_t calls_ = 0;
};

}  // namespace bellwether
