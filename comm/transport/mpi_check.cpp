// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/mpi_check.hpp"

#include "core/system/error.hpp"

#include <mpi.h>

#include <string>

namespace bellwether::comm {

void check_mpi(int code, char const* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw RuntimeError(std::string(call) + ": " + text);
}

}  // namespace bellwether::comm
