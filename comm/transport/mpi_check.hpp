// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether::comm {

/// \throws RuntimeError with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, char const* call);

}  // namespace bellwether::comm
