# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Included if Kokkos has a CUDA backend. Sources that use Kokkos are then compiled as CUDA.
set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
enable_language(CUDA)
# CMake 3.25 does not know nvcc's C++20 option. It can be set only after the language is enabled.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
target_compile_options(Kokkos::kokkoscore INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/kokkos_cuda13_compat.hpp>")
set(BELLWETHER_KOKKOS_LANGUAGE CUDA)

# The toolkit's libraries without the CUDA runtime: the language links it statically, and it must not be linked twice.
find_package(CUDAToolkit 12.3 REQUIRED)
include(nccl)
set(BELLWETHER_DEVICE_BLAS CUDA::cublas CUDA::cublasLt)
set(BELLWETHER_DEVICE_COLLECTIVES bellwether_nccl)
# Warnings of nvcc and of the host compiler in CUDA sources.
target_compile_options(bellwether_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler=-Wall,-Wextra,-fno-math-errno,-fno-trapping-math,-fopenmp-simd>")
if(BELLWETHER_WARNINGS_AS_ERRORS)
  target_compile_options(bellwether_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror=all-warnings>")
endif()
# Kokkos sets the CPU only for CUDA sources. Plain C++ sources get the options that other builds have, in the same order,
# so that ccache finds their objects.
if(NATIVE IN_LIST Kokkos_ARCH)
  target_compile_options(Kokkos::kokkoscore INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>
                                                      $<$<COMPILE_LANGUAGE:CXX>:-mtune=native>)
endif()
