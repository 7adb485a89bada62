// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A Kokkos tool (KOKKOS_TOOLS_LIBS): appends the label of every kernel and region that begins to COUNTING_TOOL_FILE,
// one per line.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* file;

void kokkosp_init_library(int sequence, uint64_t version, uint32_t devices, void* infos) {
  char const* const path = getenv("COUNTING_TOOL_FILE");
  (void)sequence, (void)version, (void)devices, (void)infos;
  file = path != NULL ? fopen(path, "w") : NULL;
}

void kokkosp_finalize_library(void) {
  if (file != NULL) fclose(file);
}

void kokkosp_begin_parallel_for(char const* label, uint32_t device, uint64_t* kernel) {
  (void)device;
  *kernel = 0;
  if (file != NULL) fprintf(file, "kernel %s\n", label);
}

void kokkosp_push_profile_region(char const* label) {
  if (file != NULL) fprintf(file, "region %s\n", label);
}
