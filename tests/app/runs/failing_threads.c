// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded into the program by limit_runs.py: refuses to create a thread if FAILING_THREADS threads exist beside the
// main one. This simulates a limit on processes, which does not apply to root.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int alive;

struct work {
  void* (*run)(void*);
  void* argument;
};

static void end_thread(void* unused) {
  (void)unused;
  atomic_fetch_sub(&alive, 1);
}

static void* run_counted(void* given) {
  struct work const own = *(struct work*)given;
  void* result = NULL;
  free(given);
  pthread_cleanup_push(end_thread, NULL);
  result = own.run(own.argument);
  pthread_cleanup_pop(1);
  return result;
}

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*), void* argument) {
  __typeof__(&pthread_create) const real = (__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
  char const* const most = getenv("FAILING_THREADS");
  struct work* const work = malloc(sizeof *work);
  if (!work) return EAGAIN;
  *work = (struct work){run, argument};
  int error = EAGAIN;
  if (atomic_fetch_add(&alive, 1) < (most ? atoi(most) : 0) || !most) error = real(thread, attributes, run_counted, work);
  if (error == 0) return 0;
  atomic_fetch_sub(&alive, 1);
  free(work);
  return error;
}
