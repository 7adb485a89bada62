# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Precompiled headers: the compiler parses Kokkos, the standard library and Catch2 once a build tree. In a build for
# CUDA plain C++ sources alone have them, without Kokkos, which nvcc must compile.
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
  # With precompiled headers g++ 12 reports false warnings from inside the standard library, which it takes for our
  # code. Sources that nvcc compiles have these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(bellwether_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
  endif()
endif()

# bellwether_precompile(<target> <owner> [<header>...]): gives a target the headers above. The owner names itself; it
# compiles them, with further headers. All other targets must have the owner's compile options.
function(bellwether_precompile target owner)
  # nvcc compiles the main program of the tests, which would own their headers.
  if(NOT DEFINED BELLWETHER_PRECOMPILED OR (Kokkos_ENABLE_CUDA AND NOT owner STREQUAL "bellwether_core"))
    return()
  endif()
  if(owner STREQUAL target)
    target_precompile_headers(${target} PRIVATE ${BELLWETHER_PRECOMPILED} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
