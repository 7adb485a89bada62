# All third-party packages; no other file finds packages.

# Keeps hdf5.h and mpi.h from including the removed C++ bindings of MPI.
add_compile_definitions(OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)

find_package(Kokkos 4.7 REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 1.10 REQUIRED COMPONENTS C)
if(HDF5_IS_PARALLEL)
  # hdf5.h of a parallel HDF5 includes mpi.h, but its CMake module does not declare this.
  target_link_libraries(hdf5::hdf5 INTERFACE MPI::MPI_C)
endif()
find_package(yaml-cpp REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

# Search the OpenMP variant's directory: Debian prefers the pthread variant, whose threads compete with Kokkos' threads.
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp
             REQUIRED)
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp
          ${CMAKE_LIBRARY_ARCHITECTURE} openblas REQUIRED)
add_library(bellwether_blas INTERFACE)
target_include_directories(bellwether_blas SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
target_link_libraries(bellwether_blas INTERFACE ${OPENBLAS_LIBRARY})

if(BELLWETHER_TESTS)
  find_package(Catch2 3 REQUIRED)
  # The tests need h5py and NumPy of the system's Python, even if PATH contains another Python.
  find_program(BELLWETHER_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(BELLWETHER_PYTHON python3 REQUIRED)
endif()
