// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What Kokkos 4.7.0 needs with CUDA 13. This file is force-included (-include) into Kokkos' own CUDA sources and into
// ours.
#pragma once

#include <cuda_runtime_api.h>

// nvcc 13.0 places members after one that is [[no_unique_address]] elsewhere in device code than its own sizeof and the
// host's compiler do: a kernel would read what lies behind a View that it was handed from the wrong bytes. Kokkos'
// mdspan does without the attribute where it is told that there is none.
#define MDSPAN_IMPL_USE_ATTRIBUTE_NO_UNIQUE_ADDRESS 1
#define MDSPAN_IMPL_USE_FAKE_ATTRIBUTE_NO_UNIQUE_ADDRESS
#define MDSPAN_IMPL_NO_UNIQUE_ADDRESS

// Two functions by the signatures they had before CUDA 13, one of them called in an installed public header.
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
