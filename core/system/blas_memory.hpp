// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether {

/// Makes OpenBLAS take a buffer for each thread that multiplies, so that no product asks the system for one. Where the
/// system refuses a buffer, OpenBLAS asks again without end. Pages are not touched. Call it before Kokkos starts, once
/// a process.
///
/// `threads`: how many threads multiply at once. Returns the fault with the limits, empty where every thread has its
/// buffer.
std::string reserve_blas_memory(int threads);

}  // namespace bellwether
