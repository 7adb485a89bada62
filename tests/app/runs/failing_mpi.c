// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded into the program by tests of whole runs: one rank gets a signal on entry to an MPI call. It then dies or
// hangs in the middle of a collective operation. A test cannot send a signal from outside at such a moment.
//
//   FAILING_RANK     the rank; ignored without a launcher
//   FAILING_CALL     name of the call.
//   FAILING_COUNT    index of the call that gets the signal, from 1.
//   FAILING_SIGNAL   number of the signal.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static long number(char const* name, char const* other_name) {
  char const* text = getenv(name);
  if (!text && other_name) text = getenv(other_name);
  return text ? atol(text) : -1;
}

static void enter(char const* call) {
  static long entered;
  char const* wanted = getenv("FAILING_CALL");
  if (!wanted || strcmp(wanted, call) != 0) return;
  if (number("OMPI_COMM_WORLD_RANK", "PMI_RANK") != number("FAILING_RANK", NULL)) return;
  if (++entered == number("FAILING_COUNT", NULL)) raise((int)number("FAILING_SIGNAL", NULL));
}

#define CALL(name, parameters, arguments)                            \
  int name parameters {                                              \
    __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    enter(#name);                                                    \
    return real arguments;                                           \
  }

CALL(MPI_Comm_split_type, (MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm* made), (all, type, key, info, made))
CALL(MPI_Comm_split, (MPI_Comm all, int color, int key, MPI_Comm* made), (all, color, key, made))
CALL(MPI_Comm_dup, (MPI_Comm all, MPI_Comm* made), (all, made))
CALL(MPI_Comm_free, (MPI_Comm * all), (all))
CALL(MPI_Finalize, (void), ())
