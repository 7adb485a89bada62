// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace bellwether::comm {

/// How many bytes a receiver lets its senders have under way, from how fast earlier ones came: what its link carries
/// until it looks again, and no less than in a moment. A period is the time in which anything is awaited. Times are
/// seconds of one clock. Until the first period ends everything is allowed.
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
  double rate_ = 0;      ///< bytes a second in the last one; 0: there was none
};

}  // namespace bellwether::comm
