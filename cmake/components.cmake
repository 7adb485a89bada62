# Each top folder is a library, bellwether_<name>. Sources that use Kokkos are listed separately from plain C++ sources,
# because a device backend compiles only the former with its own compiler. The latter are bellwether_<name>_plain.
add_library(bellwether_options INTERFACE)
target_compile_features(bellwether_options INTERFACE cxx_std_20)
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>)
# A sqrt that may set errno is a function call and prevents vectorisation. The option does not change any result.
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)
# Without AVX-512 masks, g++ does not vectorise loops that select between two values, in case exceptions are trapped.
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>)
# Vectorises loops marked `omp simd` even if Kokkos does not use OpenMP.
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp-simd>)
# g++ 12 warns falsely about prepending a short string to another (GCC bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(BELLWETHER_WARNINGS_AS_ERRORS)
  target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(BELLWETHER_SANITIZE)
  target_compile_options(bellwether_options INTERFACE -fsanitize=${BELLWETHER_SANITIZE} -fno-omit-frame-pointer
                                                      -fno-sanitize-recover=all)
  target_link_options(bellwether_options INTERFACE -fsanitize=${BELLWETHER_SANITIZE})
  if(BELLWETHER_SANITIZE MATCHES thread)
    target_compile_options(bellwether_options INTERFACE -Wno-tsan) # the sanitizer does not support Kokkos' fences
  endif()
  if(BELLWETHER_SANITIZE MATCHES address)
    add_library(bellwether_kept_plugins OBJECT tests/support/kept_plugins.cpp)
    target_link_libraries(bellwether_options INTERFACE $<TARGET_OBJECTS:bellwether_kept_plugins>)
    # For MPI's libraries: their dlclose must resolve to ours in the executable instead of the C library's.
    target_link_options(bellwether_options INTERFACE -Wl,--export-dynamic-symbol=dlclose)
  endif()
endif()

if(BELLWETHER_DEVICE_TEAMS)
  target_compile_definitions(bellwether_options INTERFACE BELLWETHER_DEVICE_TEAMS)
endif()
if(BELLWETHER_FUZZ)
  target_compile_options(bellwether_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(BELLWETHER_KOKKOS_LANGUAGE CXX)
if(Kokkos_ENABLE_CUDA)
  include(cuda)
endif()

# Plain C++ sources get Kokkos' options for the CPU but none of its include folders, which they do not need. Their commands
# are then the same in builds for other devices, and ccache shares their objects.
add_library(bellwether_plain_options INTERFACE)
target_compile_options(bellwether_plain_options INTERFACE
  $<TARGET_PROPERTY:Kokkos::kokkoscore,INTERFACE_COMPILE_OPTIONS>)
target_link_libraries(bellwether_plain_options INTERFACE bellwether_options)
if(Kokkos_ENABLE_OPENMP)
  target_link_libraries(bellwether_plain_options INTERFACE OpenMP::OpenMP_CXX)
endif()

# bellwether_component(<name> KOKKOS <sources...> PLAIN <sources...> [DEVICE <sources...>] [HOST <sources...>]
#                      [CUDA <sources...> CUDA_PLAIN <sources...>] LINK <targets...>)
# HOST: Kokkos sources of builds without a device; CUDA: their replacements in CUDA builds. DEVICE: Kokkos sources of
# device backends that have no replacement.
function(bellwether_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "KOKKOS;PLAIN;DEVICE;HOST;CUDA;CUDA_PLAIN;LINK")
  if(Kokkos_ENABLE_CUDA)
    list(APPEND arg_KOKKOS ${arg_CUDA})
    list(APPEND arg_PLAIN ${arg_CUDA_PLAIN})
  else()
    list(APPEND arg_KOKKOS ${arg_HOST})
  endif()
  if(Kokkos_ENABLE_HIP OR Kokkos_ENABLE_SYCL)
    list(APPEND arg_KOKKOS ${arg_DEVICE})
  endif()
  if(arg_KOKKOS)
    set_source_files_properties(${arg_KOKKOS} PROPERTIES LANGUAGE ${BELLWETHER_KOKKOS_LANGUAGE})
  endif()
  add_library(bellwether_${name}_plain OBJECT ${arg_PLAIN})
  add_library(bellwether_${name} STATIC ${arg_KOKKOS} $<TARGET_OBJECTS:bellwether_${name}_plain>)
  add_library(bellwether::${name} ALIAS bellwether_${name})
  target_link_libraries(bellwether_${name} PUBLIC bellwether_options ${arg_LINK})
  target_link_libraries(bellwether_${name}_plain PUBLIC bellwether_plain_options)
  foreach(library IN LISTS arg_LINK)
    if(TARGET ${library}_plain)
      target_link_libraries(bellwether_${name}_plain PUBLIC ${library}_plain)
    elseif(library IN_LIST BELLWETHER_DEVICE_BLAS OR library IN_LIST BELLWETHER_DEVICE_COLLECTIVES)
      target_link_libraries(bellwether_${name}_plain PRIVATE ${library})
    elseif(NOT library MATCHES "^Kokkos::")
      target_link_libraries(bellwether_${name}_plain PUBLIC ${library})
    endif()
  endforeach()
  foreach(target bellwether_${name} bellwether_${name}_plain)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  endforeach()
  bellwether_precompile(bellwether_${name}_plain bellwether_plain_headers)
  if(arg_KOKKOS)
    bellwether_precompile(bellwether_${name} bellwether_core <Kokkos_Core.hpp>)
  else()
    set_target_properties(bellwether_${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()
