// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/environment.hpp"
#include "core/system/openmp_places.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <optional>

namespace bellwether {
namespace {

char const* value_of(char const* name) { return std::getenv(name); }

/// Kokkos loads the first library of the list and continues silently if that fails.
std::optional<std::string> fault_of_tool() {
  char const* const chosen = value_of("KOKKOS_TOOLS_LIBS");
  char const* const older = value_of("KOKKOS_PROFILE_LIBRARY");
  if (chosen != nullptr && older != nullptr && std::strcmp(chosen, older) != 0)
    return fault_of_variable("KOKKOS_PROFILE_LIBRARY", older, "the value of KOKKOS_TOOLS_LIBS");
  auto const* const name = chosen != nullptr ? "KOKKOS_TOOLS_LIBS" : "KOKKOS_PROFILE_LIBRARY";
  char const* const list = chosen != nullptr ? chosen : older;
  if (list == nullptr || *list == '\0') return std::nullopt;
  std::string const library(list, std::strcspn(list, ";"));
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr)
    return std::nullopt;  // stays open: Kokkos opens it next
  char const* const reason = dlerror();
  return fault_of_variable(name, list,
                           std::string("a Kokkos tool that can be loaded (") + (reason != nullptr ? reason : "") + ")");
}

/// A multiple of what kernels need for local variables.
constexpr std::size_t least_stack = std::size_t{256} << 10;

/// Threads that wait until all of them have started.
struct Probe {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  static void* wait(void* self) {
    auto& gate = static_cast<Probe*>(self)->gate;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return nullptr;
  }
};

/// Starts `count` threads at once. Returns 0, or the error of the first thread that does not start.
int start_threads(int count, std::size_t stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = stack > 0 ? pthread_attr_setstacksize(&attributes, stack) : 0;
  Probe probe;
  std::vector<pthread_t> threads;
  pthread_mutex_lock(&probe.gate);
  while (error == 0 && static_cast<int>(threads.size()) < count) {
    pthread_t thread{};
    error = pthread_create(&thread, &attributes, &Probe::wait, &probe);
    if (error == 0) threads.push_back(thread);
  }
  pthread_mutex_unlock(&probe.gate);
  for (auto const thread : threads) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

std::size_t default_stack() {
  pthread_attr_t attributes;
  std::size_t size = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return size;
}

std::string stack_fault(std::size_t asked) {
  std::string const needed = std::to_string(least_stack >> 10) + "K";
  if (asked > 0)
    return fault_of_variable(value_of("OMP_STACKSIZE") != nullptr ? "OMP_STACKSIZE" : "GOMP_STACKSIZE",
                             std::to_string(asked >> 10) + "K", "at least " + needed);
  return "the stack of a thread is " + std::to_string(default_stack() >> 10) + "K; allowed: at least " + needed +
         "; raise `ulimit -s` or set OMP_STACKSIZE";
}

/// Returns faults of the variables that bind threads: OpenMP uses other CPUs than those they name, or none.
std::vector<std::string> faults_of_binding(OpenMpLimits const& openmp) {
  char const* const binding = value_of("OMP_PROC_BIND");
  if (binding != nullptr && strcasecmp(binding, "false") == 0) return {};  // OpenMP then ignores places
  char const* const places = value_of("OMP_PLACES");
  char const* const affinity = value_of("GOMP_CPU_AFFINITY");
  std::vector<std::string> faults;
  auto const require_named = [&](char const* name, char const* value, bool named) {
    if (value != nullptr && (openmp.places == 0 || !named))
      faults.push_back(fault_of_variable(name, value, "places that OpenMP finds on this machine"));
  };
  require_named("OMP_PLACES", places, places == nullptr || places_name(places, openmp.cpus));
  // OpenMP leaves out a CPU that does not exist, without a message.
  if (auto const missing = places != nullptr && faults.empty() ? missing_cpu(places, openmp.online) : std::nullopt)
    faults.push_back(
        fault_of_variable("OMP_PLACES", places, "CPUs of this machine, which has no CPU " + std::to_string(*missing)));
  // OpenMP reads the older variable only without the other one.
  require_named("GOMP_CPU_AFFINITY", affinity,
                affinity == nullptr || places != nullptr || affinity_names(affinity, openmp.cpus));
  return faults;
}

/// Returns the number of threads that the user asks OpenMP for: the first of "4,2"; 0 if OMP_NUM_THREADS is unset.
int threads_of_openmp() {
  char const* const value = value_of("OMP_NUM_THREADS");
  return value != nullptr ? std::atoi(value) : 0;
}

/// Returns the faults of the requested number of threads; the variables themselves are valid.
std::vector<std::string> faults_of_machine(OpenMpLimits const& openmp) {
  char const* const of_kokkos = value_of("KOKKOS_NUM_THREADS");
  int const threads = of_kokkos != nullptr ? std::atoi(of_kokkos) : openmp.threads;
  std::string const name = of_kokkos != nullptr ? "KOKKOS_NUM_THREADS" : "OMP_NUM_THREADS";
  auto const many_of = [&](int count) { return name + ": " + std::to_string(count) + " threads for a rank"; };
  std::string const many = many_of(threads);
  if (threads > openmp.most)
    return {many + (of_kokkos != nullptr ? "" : ", set by this variable or equal to the number of CPUs") +
            "; allowed: 1 to " + std::to_string(openmp.most) + "; use more ranks instead"};
  // OpenMP starts fewer threads than requested at its limit, and Kokkos does not check how many it gets. Without either
  // variable nothing is requested, and the limit alone decides.
  int const requested = of_kokkos != nullptr ? threads : threads_of_openmp();
  if (openmp.thread_limit < requested)
    return {many_of(requested) + ", but OMP_THREAD_LIMIT allows " + std::to_string(openmp.thread_limit) +
            "; raise or unset it"};
  auto faults = faults_of_binding(openmp);
  std::size_t const asked = stack_bytes(value_of), stack = asked > 0 ? asked : default_stack();
  if (stack < least_stack) {
    faults.push_back(stack_fault(asked));
  } else if (int const error = asked > 0 ? start_threads(threads - 1, asked) : 0; error != 0) {
    faults.push_back(many + " with " + std::to_string(stack >> 10) +
                     "K of stack each cannot be started: " + std::strerror(error) +
                     "; lower this variable or OMP_STACKSIZE, or raise `ulimit -u`, `ulimit -v` "
                     "and the job's limits");
  }
  return faults;
}

}  // namespace

std::vector<std::string> faults_of_threads(std::optional<OpenMpLimits> const& openmp) {
  auto faults = faults_of_thread_variables(value_of);
  if (auto fault = fault_of_tool()) faults.push_back(std::move(*fault));
  return faults.empty() && openmp ? faults_of_machine(*openmp) : faults;
}

}  // namespace bellwether
