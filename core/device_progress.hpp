// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

namespace bellwether {

/// How far an execution space has come, told to the host without a fence: for buffers that take turns.
class DeviceProgress {
 public:
  DeviceProgress();

  /// Counts one more piece of work as done, once all that was given to `exec` before has been.
  void mark(Exec const& exec);
  /// Waits until piece `count`, from 1 on, is done.
  void wait(Exec const& exec, std::int64_t count) const;
  std::int64_t marked() const { return marked_; }

 private:
  std::int64_t done() const;

  Kokkos::View<std::int64_t, Kokkos::SharedHostPinnedSpace> done_;
  std::int64_t marked_ = 0;
};

}  // namespace bellwether
