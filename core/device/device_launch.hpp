// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <functional>
#include <memory>

namespace bellwether {

/// Call once after Kokkos::initialize(). It makes Kokkos allocate its team scratch in device memory. Until a kernel
/// requests some, every team launch calls the driver for an empty allocation.
void start_device();

/// A recorded sequence of kernel launches that replays as one launch instead of hundreds: a CUDA graph.
class Recording {
 public:
  /// Returns true if Exec supports recording: devices with CUDA graphs.
  static bool possible();

  /// Records what work() enqueues on `exec` instead of running it. Allocations and host computations are not
  /// recorded, and a fence is an error: run the work once before recording. Replays use the same pointers and
  /// numbers as the recording.
  /// \throws RuntimeError if the device cannot record it.
  Recording(Exec const& exec, std::function<void()> const& work);
  ~Recording();
  Recording(Recording&&) noexcept;

  void replay(Exec const& exec) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether
