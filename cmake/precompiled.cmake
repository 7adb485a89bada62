# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Precompiled headers: the compiler parses Kokkos, the standard library and Catch2 once per build tree. In CUDA builds
# only plain C++ sources use them, and they do not contain Kokkos, which nvcc must compile.
if(BELLWETHER_PRECOMPILED_HEADERS)
  set(BELLWETHER_PRECOMPILED
    <algorithm>
    <array>
    <atomic>
    <charconv>
    <chrono>
    <cmath>
    <condition_variable>
    <cstdint>
    <cstdio>
    <cstring>
    <exception>
    <filesystem>
    <fstream>
    <functional>
    <iostream>
    <limits>
    <map>
    <memory>
    <mutex>
    <optional>
    <span>
    <sstream>
    <stdexcept>
    <string>
    <string_view>
    <thread>
    <unordered_map>
    <utility>
    <variant>
    <vector>)
  if(NOT Kokkos_ENABLE_CUDA)
    list(APPEND BELLWETHER_PRECOMPILED <Kokkos_Core.hpp>)
  endif()
  # With precompiled headers, g++ 12 treats the standard library as our code and reports false warnings. Sources that
  # nvcc compiles keep these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(bellwether_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
  endif()
endif()

# bellwether_precompile(<target> <owner> [<header>...]): adds the headers above to a target. The owner passes itself and
# compiles them, together with further headers. All other targets must have the owner's compile options.
function(bellwether_precompile target owner)
  # In CUDA builds nvcc compiles the main program of the tests, which would own their headers.
  if(NOT DEFINED BELLWETHER_PRECOMPILED OR (Kokkos_ENABLE_CUDA AND NOT owner STREQUAL "bellwether_core"))
    return()
  endif()
  if(owner STREQUAL target)
    target_precompile_headers(${target} PRIVATE ${BELLWETHER_PRECOMPILED} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
