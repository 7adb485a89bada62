# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Precompiled headers: the compiler parses Kokkos, the standard library and Catch2 once a build tree. A build for CUDA
# has none, so that it refuses a source that includes less than it uses.
if(BELLWETHER_PRECOMPILED_HEADERS AND NOT Kokkos_ENABLE_CUDA)
  set(BELLWETHER_PRECOMPILED
    <Kokkos_Core.hpp>
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
  # With precompiled headers g++ 12 reports false warnings from inside the standard library, which it takes for our
  # code. A build for CUDA has these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(bellwether_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
  endif()
endif()

# bellwether_precompile(<target> <owner> [<header>...]): gives a target the headers above. The owner names itself; it
# compiles them, with further headers. All other targets must have the owner's compile options.
function(bellwether_precompile target owner)
  if(NOT DEFINED BELLWETHER_PRECOMPILED)
    return()
  endif()
  if(owner STREQUAL target)
    target_precompile_headers(${target} PRIVATE ${BELLWETHER_PRECOMPILED} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
