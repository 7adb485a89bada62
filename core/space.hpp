// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

/// What differs between execution spaces. Only this file and core/compiler.hpp ask for which space core is compiled. A
/// space with instructions of its own has a file space_<name>.hpp with the same functions, in namespace native. Hosts
/// and all other devices share space_host.hpp.
///
/// A device compiler compiles each function twice: its pass for the device takes that device's file, its pass for the
/// host the other one.
#if defined(__CUDA_ARCH__)
#include "core/space_cuda.hpp"
#else
#include "core/space_host.hpp"
#endif

namespace bellwether {

/// True in a build for tests that runs the device path of kernels on hosts, with teams of one thread.
#ifdef BELLWETHER_DEVICE_TEAMS
inline constexpr bool device_teams_on_hosts = true;
#else
inline constexpr bool device_teams_on_hosts = false;
#endif

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
