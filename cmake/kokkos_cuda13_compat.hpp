// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Workarounds for Kokkos 4.7.0 with CUDA 13. Force-included (-include) into the CUDA sources of Kokkos and Bellwether.
#pragma once

#include <cuda_runtime_api.h>

// In device code, nvcc 13.0 places members after a [[no_unique_address]] member at other offsets than its own sizeof
// and the host compiler. A kernel would then read arguments after a View from the wrong bytes. These macros make
// Kokkos' mdspan avoid the attribute.
#define MDSPAN_IMPL_USE_ATTRIBUTE_NO_UNIQUE_ADDRESS 1
#define MDSPAN_IMPL_USE_FAKE_ATTRIBUTE_NO_UNIQUE_ADDRESS
#define MDSPAN_IMPL_NO_UNIQUE_ADDRESS

// Two functions with their signatures before CUDA 13; an installed public header of Kokkos calls one of them.
#if CUDART_VERSION >= 13000
inline cudaError_t cudaMemPrefetchAsync(void const* address, size_t bytes, int device, cudaStream_t stream) {
  cudaMemLocation where{};
  where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id = device == cudaCpuDeviceId ? 0 : device;
  return ::cudaMemPrefetchAsync(address, bytes, where, 0u, stream);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, cudaGraphNode_t const* from, cudaGraphNode_t const* to,
                                            size_t count) {
  return ::cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif
