// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

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

/// Instantiates MACRO(Space) for every enabled execution space.
#ifdef KOKKOS_ENABLE_SERIAL
#define BELLWETHER_FOR_SERIAL(MACRO) MACRO(Kokkos::Serial)
#else
#define BELLWETHER_FOR_SERIAL(MACRO)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define BELLWETHER_FOR_OPENMP(MACRO) MACRO(Kokkos::OpenMP)
#else
#define BELLWETHER_FOR_OPENMP(MACRO)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define BELLWETHER_FOR_CUDA(MACRO) MACRO(Kokkos::Cuda)
#else
#define BELLWETHER_FOR_CUDA(MACRO)
#endif
#ifdef KOKKOS_ENABLE_HIP
#define BELLWETHER_FOR_HIP(MACRO) MACRO(Kokkos::HIP)
#else
#define BELLWETHER_FOR_HIP(MACRO)
#endif
#ifdef KOKKOS_ENABLE_SYCL
#define BELLWETHER_FOR_SYCL(MACRO) MACRO(Kokkos::SYCL)
#else
#define BELLWETHER_FOR_SYCL(MACRO)
#endif
/// The same for host spaces only and for device spaces only.
#define BELLWETHER_FOR_EACH_HOST_SPACE(MACRO) BELLWETHER_FOR_SERIAL(MACRO) BELLWETHER_FOR_OPENMP(MACRO)
#define BELLWETHER_FOR_EACH_DEVICE_SPACE(MACRO) \
  BELLWETHER_FOR_CUDA(MACRO) BELLWETHER_FOR_HIP(MACRO) BELLWETHER_FOR_SYCL(MACRO)
#define BELLWETHER_FOR_EACH_SPACE(MACRO) BELLWETHER_FOR_EACH_HOST_SPACE(MACRO) BELLWETHER_FOR_EACH_DEVICE_SPACE(MACRO)
