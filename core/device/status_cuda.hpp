// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace bellwether {

/// Checks a CUDA return code. \throws RuntimeError that names the call. For CUDA sources only.
inline void check_cuda(cudaError_t status, char const* call) {
  if (status != cudaSuccess) throw RuntimeError(std::string(call) + ": " + cudaGetErrorString(status));
}

}  // namespace bellwether
