# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Kokkos, the standard library and Catch2 are parsed once a tree, not once a file. A build for CUDA has no precompiled
# headers, and so notices a source that includes less than it uses.
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
  # g++ 12 warns falsely of texts that are put together, and with precompiled headers does not know whose headers it
  # warns of. The sanitizers notice what these warnings are for.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(bellwether_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
  endif()
endif()

# bellwether_precompile(<target> <owner> [<header>...]): gives a target the headers above. The owner, which names itself,
# compiles them and further ones; compile options of the others must be the same as the owner's.
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
