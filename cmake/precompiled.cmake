# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Precompiled headers: the compiler parses the standard library, Kokkos and Catch2 once per build tree. Those of plain C++
# sources do not contain Kokkos: they load faster, and ccache shares them and these sources' objects among builds.
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
  # With precompiled headers, g++ 12 treats the standard library as our code and reports false warnings. Sources that
  # nvcc compiles keep these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(bellwether_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
  endif()
endif()

# Owns the headers of plain C++ sources.
if(DEFINED BELLWETHER_PRECOMPILED)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/plain_headers.cpp CONTENT "// Owns precompiled headers.\n")
  add_library(bellwether_plain_headers OBJECT ${PROJECT_BINARY_DIR}/plain_headers.cpp)
  target_link_libraries(bellwether_plain_headers PRIVATE bellwether_plain_options)
  target_precompile_headers(bellwether_plain_headers PRIVATE ${BELLWETHER_PRECOMPILED})
endif()

# bellwether_precompile(<target> <owner> [<header>...]): adds the headers above to a target. The owner passes itself and
# compiles them, together with further headers. All other targets must have the owner's compile options. In CUDA builds
# only plain C++ sources have precompiled headers, because nvcc compiles the other sources.
function(bellwether_precompile target owner)
  if(NOT DEFINED BELLWETHER_PRECOMPILED OR (Kokkos_ENABLE_CUDA AND NOT owner STREQUAL "bellwether_plain_headers"))
    return()
  endif()
  if(owner STREQUAL target)
    target_precompile_headers(${target} PRIVATE ${BELLWETHER_PRECOMPILED} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
