// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded into the program by disk_runs.py: makes system calls on some paths fail. Tests without root permissions
// cannot set up quotas, read-only file systems or file systems without locks. They can simulate the resulting errors.
//
//   FAILING_CALLS   the calls that fail, e.g. "open,mkdir".
//                   Known: open and access (for writing), mkdir, write, sync, rename, remove, lock.
//   FAILING_PATHS   a part of the paths for which calls fail.
//   FAILING_ERRNO   the number of the error.
//   FAILING_WHILE   a file: calls fail while it exists; if unset, calls always fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char const *calls, *paths, *only_while;
static int reason;

// Reads the settings once, because other threads may change the environment later. Earlier calls succeed.
__attribute__((constructor)) static void read_environment(void) {
  char const* const number = getenv("FAILING_ERRNO");
  paths = getenv("FAILING_PATHS");
  only_while = getenv("FAILING_WHILE");
  reason = number ? atoi(number) : EIO;
  if (paths) calls = getenv("FAILING_CALLS");
}

// Returns true and sets errno if a call fails; otherwise errno stays unchanged.
static bool fails(char const* call, char const* path) {
  if (!calls || !strstr(calls, call) || !strstr(path, paths)) return false;
  int const before = errno;
  bool const now = !only_while || access(only_while, F_OK) == 0;
  errno = now ? reason : before;
  return now;
}

// The same for an open file, and for a name below an open folder.
static bool fails_at(char const* call, int file, char const* name) {
  if (!calls || !strstr(calls, call)) return false;
  if (name[0] == '/' || file == AT_FDCWD) return fails(call, name);
  char link[64], path[2 * PATH_MAX];
  int const before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t const length = readlink(link, path, PATH_MAX);
  errno = before;
  if (length < 0) return false;
  snprintf(path + length, sizeof path - (size_t)length, "/%s", name);
  return fails(call, path);
}

#define THE_REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static int open_or_fail(__typeof__(&open) real, char const* path, int flags, mode_t mode) {
  bool const writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  return writes && fails("open", path) ? -1 : real(path, flags, mode);
}

#define OPEN(function)                                                \
  int function(char const* path, int flags, ...) {                    \
    va_list more;                                                     \
    va_start(more, flags);                                            \
    mode_t const mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                     \
    return open_or_fail(THE_REAL(function), path, flags, mode);       \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(function)                                                                         \
  FILE* function(char const* restrict path, char const* restrict mode) {                        \
    return strpbrk(mode, "wa+") && fails("open", path) ? NULL : THE_REAL(function)(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int file, void const* bytes, size_t count) {
  return fails_at("write", file, "") ? -1 : THE_REAL(write)(file, bytes, count);
}
ssize_t writev(int file, struct iovec const* parts, int count) {
  return fails_at("write", file, "") ? -1 : THE_REAL(writev)(file, parts, count);
}
ssize_t pwrite(int file, void const* bytes, size_t count, off_t at) {
  return fails_at("write", file, "") ? -1 : THE_REAL(pwrite)(file, bytes, count, at);
}
ssize_t pwrite64(int file, void const* bytes, size_t count, off64_t at) {
  return fails_at("write", file, "") ? -1 : THE_REAL(pwrite64)(file, bytes, count, at);
}
int fsync(int file) { return fails_at("sync", file, "") ? -1 : THE_REAL(fsync)(file); }

int mkdir(char const* path, mode_t mode) { return fails("mkdir", path) ? -1 : THE_REAL(mkdir)(path, mode); }
int rename(char const* from, char const* to) { return fails("rename", to) ? -1 : THE_REAL(rename)(from, to); }
int remove(char const* path) { return fails("remove", path) ? -1 : THE_REAL(remove)(path); }
int unlinkat(int folder, char const* name, int flags) {
  return fails_at("remove", folder, name) ? -1 : THE_REAL(unlinkat)(folder, name, flags);
}
int faccessat(int folder, char const* path, int mode, int flags) {
  return (mode & W_OK) && fails_at("access", folder, path) ? -1 : THE_REAL(faccessat)(folder, path, mode, flags);
}

int flock(int file, int operation) {
  return operation != LOCK_UN && fails_at("lock", file, "") ? -1 : THE_REAL(flock)(file, operation);
}

#define FCNTL(function)                                                                            \
  int function(int file, int command, ...) {                                                       \
    va_list more;                                                                                  \
    va_start(more, command);                                                                       \
    void* const argument = va_arg(more, void*); /* as the C library itself passes it on */         \
    va_end(more);                                                                                  \
    bool const locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK;        \
    return locks && fails_at("lock", file, "") ? -1 : THE_REAL(function)(file, command, argument); \
  }
FCNTL(fcntl)
FCNTL(fcntl64)
