# Functions that add a test executable and its ctest entries. Executables are tests/test_<name> in the build folder.
#
#   bellwether_test(<name> SOURCES <source>... [KOKKOS] [LINK <target>...] [LABELS <label>...] [TIMEOUT <seconds>])
#       one entry per test case, "<name>: <case>"; Kokkos is initialised, MPI is not
#   bellwether_mpi_test(<name> SOURCES <source>... RANKS <count>... [LINK ...] [LABELS ...] [TIMEOUT ...])
#       one entry per number of ranks, <name>_p<ranks>; one run executes all test cases
#
# KOKKOS: the sources include Kokkos; those of MPI tests always may. LINK defaults to the component with the name of the
# calling folder. TIMEOUT is the last resort: the collective timeout ends a waiting run earlier and names the collective.

# The root variables let mpirun start in containers. The others keep tests and ranks from competing for cores: a waiting
# thread must not occupy a core that another test needs.
set(BELLWETHER_TEST_ENVIRONMENT OMP_NUM_THREADS=2 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive KOKKOS_DISABLE_WARNINGS=1)
set(BELLWETHER_MPI_TEST_ENVIRONMENT OMP_NUM_THREADS=1 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive KOKKOS_DISABLE_WARNINGS=1
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_mpi_yield_when_idle=1)
# mpirun refuses to start without a remote shell, even on one machine.
find_program(BELLWETHER_REMOTE_SHELL NAMES ssh rsh)
mark_as_advanced(BELLWETHER_REMOTE_SHELL)
if(NOT BELLWETHER_REMOTE_SHELL)
  list(APPEND BELLWETHER_MPI_TEST_ENVIRONMENT OMPI_MCA_plm=isolated)
endif()
set(BELLWETHER_MPIRUN_FLAGS "--oversubscribe;--bind-to;none" CACHE STRING "Flags of the MPI launcher in tests")

function(bellwether_test_executable name kokkos main sources link)
  if(NOT link)
    get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    set(link bellwether::${folder})
  endif()
  if(kokkos)
    set_source_files_properties(${sources} PROPERTIES LANGUAGE ${BELLWETHER_KOKKOS_LANGUAGE})
  endif()
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${main} bellwether_test_support ${link} Catch2::Catch2
                                        bellwether_test_options)
  bellwether_precompile(${name} bellwether_test_main)
endfunction()

# The tests of a build with BELLWETHER_DEVICE_TEAMS: their kernels have separate code for devices. The list contains
# gemm_rows and tiny_bert because model/CMakeLists.txt sets properties of their targets.
set(BELLWETHER_TEAM_TESTS block_table core bert_gradients layer_gradients layer_teams team_attention optimizer
    optimizer_kernels onebit decoded_kernels onebit_mpi onebit_traces noise_scale compressed_kernels compressed_allreduce
    hierarchical_allreduce gemm_rows tiny_bert)

# The tests that a build with the address sanitizer excludes: they compare values, and other tests run the same kernels
# and exchanges.
set(BELLWETHER_VALUE_TESTS optimizer_mpi onebit_freeze onebit_resume onebit_traces noise_scale variance_growth
    bert_reference network_model)

# Sets `result` to ON if this build excludes the test.
function(bellwether_left_out name result)
  set(${result} OFF PARENT_SCOPE)
  if(BELLWETHER_DEVICE_TEAMS AND NOT name IN_LIST BELLWETHER_TEAM_TESTS)
    set(${result} ON PARENT_SCOPE)
  elseif(BELLWETHER_SANITIZE MATCHES address AND name IN_LIST BELLWETHER_VALUE_TESTS)
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

function(bellwether_test name)
  bellwether_left_out(${name} left_out)
  if(left_out)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "KOKKOS" "TIMEOUT" "SOURCES;LINK;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  bellwether_test_executable(test_${name} "${arg_KOKKOS}" bellwether_test_main "${arg_SOURCES}" "${arg_LINK}")
  # PRE_TEST: without a driver, a program for devices cannot list its tests at build time.
  catch_discover_tests(test_${name} TEST_PREFIX "${name}: " DISCOVERY_MODE PRE_TEST
    PROPERTIES SKIP_RETURN_CODE 4 TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${BELLWETHER_TEST_ENVIRONMENT}"
               LABELS "${name};${arg_LABELS}")
endfunction()

function(bellwether_mpi_test name)
  bellwether_left_out(${name} left_out)
  if(left_out)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINK;LABELS;RANKS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  # Two ranks have equal shares of most vectors, three have unequal ones. These two numbers reveal memory faults.
  if(BELLWETHER_SANITIZE MATCHES address)
    list(FILTER arg_RANKS INCLUDE REGEX "^[23]$")
  endif()
  bellwether_test_executable(test_${name} ON bellwether_test_mpi_main "${arg_SOURCES}" "${arg_LINK}")
  foreach(ranks IN LISTS arg_RANKS)
    add_test(NAME ${name}_p${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${BELLWETHER_MPIRUN_FLAGS} ${MPIEXEC_NUMPROC_FLAG}
                                            ${ranks} $<TARGET_FILE:test_${name}>)
    set_tests_properties(${name}_p${ranks} PROPERTIES
      SKIP_RETURN_CODE 4 TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks} ENVIRONMENT "${BELLWETHER_MPI_TEST_ENVIRONMENT}"
      LABELS "${name};mpi;${arg_LABELS}")
  endforeach()
endfunction()
