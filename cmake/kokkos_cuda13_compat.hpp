// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Kokkos 4.7.0 calls two CUDA functions by the signatures they had before CUDA 13, one of them in an installed public
// header. This file is force-included (-include) into Kokkos' own CUDA sources and into ours; it adds the old
// signatures as overloads of the new ones.
#pragma once

#include <cuda_runtime_api.h>

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
