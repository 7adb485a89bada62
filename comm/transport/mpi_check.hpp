// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether::comm {

/// Checks the return code of an MPI call. \throws RuntimeError with MPI's error text unless `code` is MPI_SUCCESS.
void check_mpi(int code, char const* call);

}  // namespace bellwether::comm
