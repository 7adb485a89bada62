# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# NCCL has no CMake configuration. Searches the CUDA toolkit, NCCL_ROOT and CMAKE_PREFIX_PATH.
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib REQUIRED)
add_library(bellwether_nccl INTERFACE)
target_include_directories(bellwether_nccl SYSTEM INTERFACE ${NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(bellwether_nccl INTERFACE ${NCCL_LIBRARY})
