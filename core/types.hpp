// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"
#include "core/space.hpp"

#include <Kokkos_Core.hpp>

/// Shape letters, used in every comment that declares a buffer:
///   B sequences in a batch    S sequence length        T tokens in a batch, padding removed
///   C hidden width            H attention heads        D = C / H
///   F feed-forward width      V vocabulary             L blocks
///   M masked positions in a batch                      n parameter count      P ranks
namespace bellwether {

/// The execution space of training: Kokkos' default in this build.
using Exec = Kokkos::DefaultExecutionSpace;
using Mem = Exec::memory_space;
/// True if Exec is a device whose memory the host cannot access.
inline constexpr bool on_devices = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Mem>::accessible;

/// Row-major vectors and matrices in the memory of an execution space. Slices of an arena are unmanaged
/// views of these types.
template <class T, class Space = Exec>
using Vec = Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space>;
template <class T, class Space = Exec>
using Mat = Kokkos::View<T**, Kokkos::LayoutRight, typename Space::memory_space>;

/// Host copy of data that kernels of Exec wrote; read it after a fence or DeviceProgress::wait(). On devices it is
/// pinned memory, because copies to other host memory block the host. On hosts it is the same memory.
template <class T>
using HostCopy = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace>;
template <class T>
HostCopy<T> host_copy_of(Vec<T> const& values) {
  return Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace{}, values);
}

}  // namespace bellwether
