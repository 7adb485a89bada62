// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/launch/stop_requests.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace bellwether::app {

/// Values that a step reduces over ranks in one sum: first the sums, then one slot per rank for maxima and minima.
class StepSums {
 public:
  enum Sum { mlm, mlm_correct, nsp, nsp_correct, faults, flops, stops, count = stops + stop_reasons };
  enum Slot { wait_data, busy, slots };

  StepSums(int rank, int size)
      : rank_(rank), size_(size), values_(static_cast<std::size_t>(count) + static_cast<std::size_t>(slots * size)) {}
  void clear() { std::fill(values_.begin(), values_.end(), 0.0); }
  double& operator[](Sum which) { return values_[which]; }
  double operator[](Sum which) const { return values_[which]; }
  void ask_to_stop(StopReason reason) {
    if (reason != StopReason::none) values_[stops + static_cast<int>(reason) - 1] = 1;
  }
  /// Returns the first reason that any rank has. Call it after the reduction.
  StopReason stop() const {
    for (int i = 0; i < stop_reasons; ++i)
      if (values_[stops + i] > 0) return static_cast<StopReason>(i + 1);
    return StopReason::none;
  }
  double& mine(Slot which) { return values_[count + which * size_ + rank_]; }
  double largest(Slot which) const {
    auto const first = values_.begin() + count + which * size_;
    return *std::max_element(first, first + size_);
  }
  double smallest(Slot which) const {
    auto const first = values_.begin() + count + which * size_;
    return *std::min_element(first, first + size_);
  }
  std::span<double> all() { return values_; }  ///< the buffer to sum over ranks

 private:
  int rank_, size_;
  std::vector<double> values_;
};

}  // namespace bellwether::app
