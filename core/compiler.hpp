// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What differs between compilers, and between the passes of a device compiler: qualifiers of functions, marks of
/// loops. Only this file and core/space.hpp ask for which compiler or space core is compiled. They are two files,
/// because plain sources include this one without Kokkos.

/// BELLWETHER_FUNCTION: qualifier of host and device functions in headers that plain C++ sources include without
/// Kokkos. BELLWETHER_SIMD...: mark loops with independent iterations, and sums and maxima that may be formed in lanes;
/// device compilers do not need them.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define BELLWETHER_FUNCTION __host__ __device__ inline
#define BELLWETHER_SIMD
#define BELLWETHER_SIMD_SUM(...)
#define BELLWETHER_SIMD_MAX(...)
#else
#define BELLWETHER_FUNCTION inline
#define BELLWETHER_PRAGMA(TEXT) _Pragma(#TEXT)
#define BELLWETHER_SIMD BELLWETHER_PRAGMA(omp simd)
#define BELLWETHER_SIMD_SUM(...) BELLWETHER_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define BELLWETHER_SIMD_MAX(...) BELLWETHER_PRAGMA(omp simd reduction(max : __VA_ARGS__))
#endif

/// BELLWETHER_INDEPENDENT marks a loop whose iterations touch different elements: the compiler need not check for
/// aliasing. BELLWETHER_VECTOR_TYPES: the compiler has the vector types of GCC and Clang, and generates host code only.
#if defined(__CUDACC__) || defined(__HIPCC__) || !defined(__GNUC__)
#define BELLWETHER_INDEPENDENT
#else
#define BELLWETHER_INDEPENDENT _Pragma("GCC ivdep")
#define BELLWETHER_VECTOR_TYPES
#endif

/// Qualifier of functions for device threads of NVIDIA GPUs; plain functions for other compilers.
#if defined(__CUDACC__)
#define BELLWETHER_DEVICE __device__ inline
#else
#define BELLWETHER_DEVICE inline
#endif

/// Unrolls a device loop over arrays in registers, whose indices the compiler must know.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BELLWETHER_UNROLL _Pragma("unroll")
#else
#define BELLWETHER_UNROLL
#endif
