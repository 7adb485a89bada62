# One library a folder: bellwether_<name>. Sources that see Kokkos are listed apart from plain C++ ones, because a
# device back end compiles only the former with its own compiler.
add_library(bellwether_options INTERFACE)
target_compile_features(bellwether_options INTERFACE cxx_std_20)
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>)
# A root that may set errno is a function call and keeps loops from being vectorised; no result changes.
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)
# Without AVX-512's masks g++ leaves loops with a choice between two values scalar, in case an exception were trapped.
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>)
# Loops marked `omp simd` are vectorised where Kokkos has no OpenMP, too.
target_compile_options(bellwether_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp-simd>)
# g++ 12 warns falsely where a short string is put in front of another (GCC bug 105651, fixed in 13).
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
    target_compile_options(bellwether_options INTERFACE -Wno-tsan) # Kokkos' fences are more than the sanitizer follows
  endif()
  if(BELLWETHER_SANITIZE MATCHES address)
    add_library(bellwether_kept_plugins OBJECT tests/support/kept_plugins.cpp)
    target_link_libraries(bellwether_options INTERFACE $<TARGET_OBJECTS:bellwether_kept_plugins>)
    # Nothing here calls it: the libraries of MPI do, which find it in the executable before the one of the C library.
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

# bellwether_component(<name> KOKKOS <sources...> PLAIN <sources...> [DEVICE <sources...>] [HOST <sources...>]
#                      [CUDA <sources...> CUDA_PLAIN <sources...>] LINK <targets...>)
# HOST: those of KOKKOS that a build without a device has in place of the ones of CUDA. DEVICE: those for devices that
# have none of their own.
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
  add_library(bellwether_${name} STATIC ${arg_KOKKOS} ${arg_PLAIN})
  add_library(bellwether::${name} ALIAS bellwether_${name})
  target_include_directories(bellwether_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(bellwether_${name} PUBLIC bellwether_options ${arg_LINK})
  bellwether_precompile(bellwether_${name} bellwether_core)
endfunction()
