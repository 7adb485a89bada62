// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether {

/// Makes OpenBLAS allocate a buffer per thread now. Later allocations could fail, and OpenBLAS then retries forever.
/// Pages are not touched. Call it once per process, before Kokkos starts.
///
/// threads: number of threads that multiply concurrently. Returns an error message with the limits, or an empty string
/// if every thread has a buffer.
std::string reserve_blas_memory(int threads);

}  // namespace bellwether
