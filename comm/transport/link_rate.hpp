// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace bellwether::comm {

/// Limits the bytes that senders may have in flight to this receiver, from the measured receive rate. The limit is
/// what the link carries between two looks, at least 0.1 s worth. A period is a time span in which messages are
/// pending; the rate is that of the last complete period. There is no limit before the first period ends. Times are
/// seconds of one clock.
class LinkRate {
 public:
  void begin(double now) {
    began_ = looked_ = now;
    gap_ = received_ = 0;
  }
  void look(double now) {
    gap_ = now - looked_;
    looked_ = now;
  }
  void received(std::int64_t bytes) { received_ += static_cast<double>(bytes); }
  void end(double now) {
    if (now > began_) rate_ = received_ / (now - began_);
  }
  std::int64_t allowed() const {
    if (rate_ == 0) return std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(rate_ * std::max(moment, 2 * gap_), most));
  }

 private:
  static constexpr double moment = 0.1, most = 1e15;
  double began_ = 0, looked_ = 0, gap_ = 0;
  double received_ = 0;  ///< bytes in this period
  double rate_ = 0;      ///< bytes per second in the last period; 0: no period yet
};

}  // namespace bellwether::comm
