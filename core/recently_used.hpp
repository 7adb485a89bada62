// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace bellwether {

/// The values that were asked for last, at most `capacity` of them, by key. Allocates nothing.
template <class Key, class Value, int capacity>
class RecentlyUsed {
 public:
  /// The value of `key`; where there is none, what make() returns takes the place of the one that was not asked for
  /// longest. Valid until the next call.
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
    Value const made = make();  // may throw: until then all stay as they are
    *oldest = {key, made, ++calls_};
    return oldest->value;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    std::uint64_t used = 0;  ///< the call that asked for it last; 0: empty
  };
  std::array<Slot, capacity> slots_{};
  std::uint64_t calls_ = 0;
};

}  // namespace bellwether
