// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <functional>
#include <memory>

namespace bellwether {

/// Once after Kokkos::initialize(): what would otherwise happen in every step. Until a kernel has asked for team
/// scratch in a device's own memory, Kokkos allocates nothing, which is a call of the driver, for every launch of
/// teams.
void start_device();

/// Work of an execution space that is given to it again as a whole, with one launch in place of hundreds: CUDA's
/// graphs.
class Recording {
 public:
  /// Whether this build's Exec can be recorded: devices with such graphs, no hosts.
  static bool possible();

  /// Records what work() gives to `exec` in place of running it. What it allocates and computes on the host is not
  /// recorded, and a fence in it is an error: run it once before. Pointers and numbers that kernels are handed stay
  /// those of the recording. \throws RuntimeError where the device refuses.
  Recording(Exec const& exec, std::function<void()> const& work);
  ~Recording();
  Recording(Recording&&) noexcept;

  void replay(Exec const& exec) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether
